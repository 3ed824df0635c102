#include "tests/bench/power/learned.hpp"

#include "aggregator/predict/class_sums.hpp"
#include "aggregator/predict/estimate.hpp"
#include "aggregator/predict/learner.hpp"

#include <algorithm>

namespace binnacle::bench {

fleet after(const lesson& what, const fleet& truth, std::span<const server> kinds, std::uint64_t seed) {
  dice random(seed);
  std::vector<predict::learner> learners(truth.size());
  std::vector<predict::class_sums> sums(kinds.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    double load = what.up_to * random.share();
    for (int k = 0; k < what.samples; ++k) {
      load = std::clamp(load + 0.03 * random.normal(), 0.0, what.up_to);
      const double watts = truth[i].truth.watts(load * truth[i].truth.cores());
      learners[i].add(load, watts * (1 + what.noise * random.normal()));
    }
    sums[truth[i].kind] += learners[i].learned();
  }
  std::vector<predict::statistics> classes;
  for (const auto& s : sums) classes.push_back(s.means());
  fleet out = truth;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto* of_class = what.by_class ? &classes[out[i].kind] : nullptr;
    const auto curve = predict::estimate(learners[i].learned(), of_class, out[i].truth.cores()).value();
    out[i].believe({curve.points().begin(), curve.points().end()},
                   out[i].believed.cap() / out[i].truth.cores());
  }
  return out;
}

}  // namespace binnacle::bench
