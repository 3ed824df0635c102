#include "aggregator/predict/objective.hpp"

#include "aggregator/predict/wao_v2.hpp"

#include <algorithm>
#include <vector>

namespace binnacle::predict {
namespace {

cost wao_v1_cost(const demand& pod, const candidate& c) {
  const double all = c.node->cores();
  const auto shares = wao_v1::shares_of(c.load, all, pod.wao_container);
  if (!shares) {
    const bool over = c.load + pod.wao_container.limit > all;
    return {over ? cost::known::over : cost::known::error, 0};
  }
  const auto at = [&](double share) {
    return c.node->watts(static_cast<double>(wao_v1::rounded(share)) * all);
  };
  const auto watts = wao_v1::increase(at(shares->before), at(shares->after));
  if (watts < 0) return {cost::known::error, 0};
  return {cost::known::yes, static_cast<double>(watts)};
}

cost wao_v2_cost(const demand& pod, const candidate& c) {
  if (pod.wao_need <= 0) return {cost::known::error, 0};
  if (c.load + pod.wao_need > c.node->cores()) return {cost::known::over, 0};
  const auto watts = wao_v2::increase(c.node->watts(c.load), c.node->watts(c.load + pod.wao_need));
  if (watts < 0) return {cost::known::error, 0};
  return {cost::known::yes, static_cast<double>(watts)};
}

/// The raw value that WAO's normalising takes. To its first version a full node is one that failed.
std::int64_t wao_value(objective by, const cost& c) {
  if (c.is == cost::known::yes) return static_cast<std::int64_t>(c.watts);
  return by == objective::wao_v2 && c.is == cost::known::over ? wao_v2::overload : wao_v2::error;
}

void score_as_wao(objective by, std::span<const placing> placings, std::span<std::uint8_t> scores) {
  std::vector<std::int64_t> watts(placings.size());
  std::vector<int> hundreds(placings.size());
  for (std::size_t i = 0; i < placings.size(); ++i) watts[i] = wao_value(by, placings[i].costs);
  if (by == objective::wao_v1) {
    wao_v1::normalise(watts, hundreds);
  } else {
    wao_v2::normalise(watts, hundreds);
  }
  for (std::size_t i = 0; i < placings.size(); ++i) {
    const bool failed = watts[i] < 0 && watts[i] != wao_v2::overload;
    scores[i] = failed ? 0 : static_cast<std::uint8_t>(std::max(1, (hundreds[i] + 5) / 10));
  }
}

}  // namespace

demand demand_of(const pod_cpu& pod, double usage) {
  demand out{usage * pod.cores(), 0, {}};
  std::vector<wao_v2::container_cpu> containers;
  for (const container_cpu& c : pod.containers) {
    if (c.what != container_cpu::kind::app) continue;
    containers.push_back({c.request.value_or(0), c.limit.value_or(0)});
  }
  out.wao_need = wao_v2::need(containers);
  if (!containers.empty()) out.wao_container = {containers.front().request, containers.front().limit};
  return out;
}

placing placing_on(objective by, const demand& pod, const candidate& c) {
  placing out;
  if (c.node == nullptr) return out;
  out.now = c.node->watts(c.load);
  out.with = c.node->watts(c.load + pod.cores);
  out.slope = c.node->from(c.load);
  switch (by) {
    case objective::best_chord: out.costs = cost_of(*c.node, c.load, pod.cores, pod.cores * out.slope); break;
    case objective::marginal: out.costs = cost_of(*c.node, c.load, pod.cores, out.with - out.now); break;
    case objective::wao_v1: out.costs = wao_v1_cost(pod, c); break;
    case objective::wao_v2: out.costs = wao_v2_cost(pod, c); break;
  }
  return out;
}

void score(objective by, const demand& pod, std::span<const candidate> candidates, std::span<placing> out,
           std::span<std::uint8_t> scores) {
  for (std::size_t i = 0; i < candidates.size(); ++i) out[i] = placing_on(by, pod, candidates[i]);
  if (by == objective::wao_v1 || by == objective::wao_v2) return score_as_wao(by, out, scores);
  std::vector<cost> costs(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) costs[i] = out[i].costs;
  score_costs(costs, scores);
}

}  // namespace binnacle::predict
