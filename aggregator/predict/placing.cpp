// What a pod costs on each candidate, and the scores that follow.
//
// Every objective asks the same two questions of a node's chords: the watts at its load (what is in flight
// included), and the watts with the pod on top. They differ in what they make of it:
//
// - Marginal takes the difference. It is exact for this one pod, and short-sighted: a curve that is steep
//   near idle makes an idle node look expensive, although the pods after this one would be cheap there.
// - BestChord takes the mean watts of each further core up to the load at which this mean is lowest, but at
//   least up to where the pod ends. So it sees that waking a node pays if it is going to be filled. Half of
//   the price is this mean from the load on, the other half the same from idle on, as the node may empty
//   again (price()). The price times the pod's cores is what the pod costs.
// - The two of WAO are what WAO computes, with its roundings, its integers and its own idea of what a pod
//   needs, so that a cluster that moves here may compare. They know no cap but all cores.
//
// Costs become scores in cost.cpp: the scheduler takes whole numbers from 0 to 10, so 0 is kept for a node
// of which nothing is known and 1 for one that the pod would fill beyond the cap, and the rest spreads
// what is known. WAO's scores of 0 to 100 are divided by ten, with 0 for failures alone.

#include "aggregator/predict/placing.hpp"

#include "aggregator/predict/wao/wao_v2.hpp"

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

void score_as_wao(objective by, std::span<const cost> costs, std::span<std::uint8_t> scores) {
  std::vector<std::int64_t> watts(costs.size());
  std::vector<int> hundreds(costs.size());
  for (std::size_t i = 0; i < costs.size(); ++i) watts[i] = wao_value(by, costs[i]);
  if (by == objective::wao_v1) {
    wao_v1::normalise(watts, hundreds);
  } else {
    wao_v2::normalise(watts, hundreds);
  }
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const bool failed = watts[i] < 0 && watts[i] != wao_v2::overload;
    scores[i] = failed ? 0 : static_cast<std::uint8_t>(std::max(1, (hundreds[i] + 5) / 10));
  }
}

}  // namespace

demand demand_of(const pod_cpu& pod, double usage, objective by) {
  demand out{};
  out.cores = out.in_flight = usage * pod.cores();
  std::vector<wao_v2::container_cpu> containers;
  for (const container_cpu& c : pod.containers) {
    if (c.what != container_cpu::kind::app) continue;
    containers.push_back({c.request.value_or(0), c.limit.value_or(0)});
  }
  out.wao_need = wao_v2::need(containers);
  if (!containers.empty()) out.wao_container = {containers.front().request, containers.front().limit};
  if (by == objective::wao_v1) out.cores = wao_v1::use_of(out.wao_container);
  if (by == objective::wao_v2) out.cores = out.wao_need;
  return out;
}

cost cost_as_wao(objective by, const demand& pod, const candidate& c) {
  return by == objective::wao_v1 ? wao_v1_cost(pod, c) : wao_v2_cost(pod, c);
}

placing placing_on(objective by, const demand& pod, const candidate& c) {
  if (c.node == nullptr) return {};
  return with_constant(by, [&](auto constant) { return placing_on<constant>(pod, c); });
}

std::vector<std::uint32_t> score(objective by, std::span<const cost> costs, std::span<std::uint8_t> scores) {
  switch (by) {
    case objective::best_chord:
    case objective::marginal: return score_costs(costs, scores);
    case objective::wao_v1:
    case objective::wao_v2: score_as_wao(by, costs, scores);
  }
  return {};
}

}  // namespace binnacle::predict
