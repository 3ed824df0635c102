#include "tests/bench/power/learned.hpp"

#include "aggregator/predict/learning/estimate.hpp"
#include "aggregator/predict/learning/learner.hpp"
#include "aggregator/predict/learning/pooled.hpp"

#include <algorithm>

namespace binnacle::bench {

fleet after(const lesson& what, const fleet& truth, std::span<const server> kinds, std::uint64_t seed) {
  dice random(seed);
  std::vector<predict::learner> learners(truth.size());
  std::vector<std::vector<const predict::statistics*>> of_kind(kinds.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    double meter = 1;
    if (what.meters_off > 0) meter = i % 8 == 7 ? 1.5 : 1 + what.meters_off * (2 * random.share() - 1);
    const double from = what.parts && i % 2 == 1 ? 0.45 : 0;
    const double to = what.parts && i % 2 == 0 ? 0.55 : what.up_to;
    double load = from + (to - from) * random.share();
    for (int k = 0; k < what.samples; ++k) {
      load = std::clamp(load + 0.03 * random.normal(), from, to);
      const double watts = meter * truth[i].truth.watts(load * truth[i].truth.cores());
      learners[i].add(load, watts * (1 + what.noise * random.normal()));
    }
    of_kind[truth[i].kind].push_back(&learners[i].learned());
  }
  std::vector<predict::statistics> classes;
  for (const auto& nodes : of_kind) classes.push_back(predict::pooled(nodes));
  fleet out = truth;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto* of_class = what.by_class ? &classes[out[i].kind] : nullptr;
    const auto curve = predict::estimate(learners[i].learned(), of_class, out[i].truth.cores()).value();
    out[i].believe({curve.points().begin(), curve.points().end()},
                   out[i].believed->cap() / out[i].truth.cores());
  }
  return out;
}

}  // namespace binnacle::bench
