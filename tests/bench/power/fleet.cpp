#include "tests/bench/power/fleet.hpp"

#include "aggregator/predict/cost.hpp"
#include "aggregator/predict/wao/wao_v1.hpp"
#include "aggregator/predict/wao/wao_v2.hpp"
#include "tests/bench/power/prioritizer.hpp"

#include <algorithm>
#include <numeric>

namespace binnacle::bench {
namespace {

constexpr double rounding = 1e-6;  // cores

predict::curve curve_of(std::span<const double> watts, double cores) {
  return predict::curve::through(watts, cores).value();
}

/// The watts as a model server answers: straight lines between its points, with dips.
double raw_watts(const node& n, double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(n.raw.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), n.raw.size() - 2);
  return n.raw[i] + (at - static_cast<double>(i)) * (n.raw[i + 1] - n.raw[i]);
}

std::int64_t wao_v1_watts(const node& n, double pod) {
  namespace v1 = predict::wao_v1;
  const auto shares = v1::shares_of(n.used, n.truth.cores(), {.request = pod, .limit = 0});
  if (!shares) return v1::failed;
  return v1::increase(raw_watts(n, v1::rounded(shares->before)), raw_watts(n, v1::rounded(shares->after)));
}

std::int64_t wao_v2_watts(const node& n, double pod) {
  namespace v2 = predict::wao_v2;
  const double before = n.used, after = before + pod, all = n.truth.cores();
  if (after > all + rounding) return v2::overload;
  return v2::increase(raw_watts(n, before / all), raw_watts(n, after / all));
}

predict::cost chord_alone_cost(const node& n, double pod) {
  return predict::cost_of(*n.believed, n.used, pod, pod * n.believed->from(n.used, pod));
}

/// How good each candidate is; the largest wins.
std::vector<double> goodness(const fleet& nodes, std::span<const std::size_t> candidates, rule by, wish pod) {
  static prioritizer product;
  if (by == rule::increase) return product.scores(nodes, candidates, predict::objective::marginal, pod);
  if (by == rule::chord) return product.scores(nodes, candidates, predict::objective::best_chord, pod);
  std::vector<double> out;
  std::vector<std::int64_t> whole_watts;
  std::vector<predict::cost> costs;
  for (const auto i : candidates) {
    const node& n = nodes[i];
    const double d = taken(n, pod);
    switch (by) {
      case rule::increase:
      case rule::chord: break;  // asked of the product
      case rule::spread: out.push_back(-n.used / n.truth.cores()); break;
      case rule::pack: out.push_back(n.used / n.truth.cores()); break;
      case rule::wao_v1: whole_watts.push_back(wao_v1_watts(n, d)); break;
      case rule::wao_v2: whole_watts.push_back(wao_v2_watts(n, d)); break;
      case rule::chord_alone: costs.push_back(chord_alone_cost(n, d)); break;
    }
  }
  if (!whole_watts.empty()) {
    std::vector<int> scores(whole_watts.size());
    if (by == rule::wao_v1)
      predict::wao_v1::normalise(whole_watts, scores);
    else
      predict::wao_v2::normalise(whole_watts, scores);
    return {scores.begin(), scores.end()};
  }
  for (const auto& c : costs) out.push_back(c.is == predict::cost::known::yes ? -c.watts : -1e9);
  return out;
}

}  // namespace

std::vector<double> as_it_is(const server& s, std::size_t) { return s.watts; }

void node::believe(std::vector<double> watts, double cap) {
  const auto model_for = [&](double all) {
    return std::make_shared<const predict::model>(predict::model{curve_of(watts, all)});
  };
  model = model_for(truth.cores());
  model_of_a_hundred_cores = model_for(100);
  believed = std::make_shared<const predict::chords>(model->power, cap);
  raw = std::move(watts);
}

fleet make_fleet(std::span<const server> kinds, std::size_t each, double cap, const belief& known) {
  fleet out;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (std::size_t i = 0; i < each * kinds[k].count; ++i) {
      out.push_back({k, curve_of(kinds[k].watts, kinds[k].cores)});
      out.back().believe(known(kinds[k], k), cap);
    }
  }
  return out;
}

double watts(const fleet& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), 0.0,
                         [](double sum, const node& n) { return sum + n.truth.watts(n.used); });
}

double cores(const fleet& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), 0.0,
                         [](double sum, const node& n) { return sum + n.truth.cores(); });
}

double share_of_fullest(const fleet& nodes) {
  double most = 0;
  for (const node& n : nodes) most = std::max(most, n.used / n.truth.cores());
  return most;
}

double taken(const node& n, wish pod) noexcept {
  return pod.share_of_node ? pod.cores * n.truth.cores() : pod.cores;
}

std::size_t nodes_enough(std::size_t all, int percent) noexcept {
  constexpr std::size_t at_least = 100;
  if (all <= at_least) return all;
  const auto share = percent > 0 ? static_cast<std::size_t>(percent)
                                 : std::max<std::size_t>(5, 50 - std::min<std::size_t>(50, all / 125));
  return std::max(at_least, all * share / 100);
}

fleet shuffled(fleet nodes, std::uint64_t seed) {
  dice random(seed);
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random.below(i)]);
  return nodes;
}

std::ptrdiff_t choose(const fleet& nodes, rule by, wish pod, ties among_equals, dice& random,
                      std::ptrdiff_t except, rotation* looks_at) {
  std::vector<std::size_t> candidates;
  const std::size_t first = looks_at == nullptr ? 0 : looks_at->next;
  const std::size_t enough = looks_at == nullptr ? nodes.size() : looks_at->enough;
  std::size_t seen = 0;
  for (; seen < nodes.size() && candidates.size() < enough; ++seen) {
    const std::size_t i = (first + seen) % nodes.size();
    const bool fits = nodes[i].used + taken(nodes[i], pod) <= nodes[i].truth.cores() + rounding;
    if (fits && static_cast<std::ptrdiff_t>(i) != except) candidates.push_back(i);
  }
  if (looks_at != nullptr) looks_at->next = (first + seen) % nodes.size();
  if (candidates.empty()) return -1;
  const auto good = goodness(nodes, candidates, by, pod);
  const double best = *std::max_element(good.begin(), good.end());
  std::vector<std::size_t> equals;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (good[i] >= best - 1e-12) equals.push_back(candidates[i]);
  }
  if (among_equals == ties::emptier) {
    const auto share = [&](std::size_t i) { return nodes[i].used / nodes[i].truth.cores(); };
    const double least = share(*std::ranges::min_element(equals, {}, share));
    std::erase_if(equals, [&](std::size_t i) { return share(i) > least + rounding; });
  }
  return static_cast<std::ptrdiff_t>(equals[random.below(equals.size())]);
}

}  // namespace binnacle::bench
