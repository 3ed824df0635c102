#include "aggregator/predict/objective.hpp"

#include "aggregator/predict/wao_v2.hpp"

#include <algorithm>
#include <vector>

namespace binnacle::predict {
namespace {

/// WAO's figure for one candidate, and what it means if it is below zero.
struct wao_figure {
  std::int64_t watts = -1;
  cost::known is = cost::known::no;
};

wao_figure wao_v1_figure(const demand& pod, const candidate& c) {
  const double all = c.node->cores();
  const auto shares = wao_v1::shares_of(c.load, all, pod.wao_container);
  if (!shares) {
    const bool over = c.load + pod.wao_container.limit > all;
    return {wao_v1::failed, over ? cost::known::over : cost::known::error};
  }
  const auto at = [&](double share) {
    return c.node->watts(static_cast<double>(wao_v1::rounded(share)) * all);
  };
  const auto watts = wao_v1::increase(at(shares->before), at(shares->after));
  return {watts, watts < 0 ? cost::known::error : cost::known::yes};
}

wao_figure wao_v2_figure(const demand& pod, const candidate& c) {
  if (pod.wao_need <= 0) return {wao_v2::error, cost::known::error};
  if (c.load + pod.wao_need > c.node->cores()) return {wao_v2::overload, cost::known::over};
  const auto watts = wao_v2::increase(c.node->watts(c.load), c.node->watts(c.load + pod.wao_need));
  return {watts, watts < 0 ? cost::known::error : cost::known::yes};
}

void score_as_wao(objective by, const demand& pod, std::span<const candidate> candidates,
                  std::span<placing> out, std::span<std::uint8_t> scores) {
  std::vector<std::int64_t> watts(candidates.size(), -1);
  std::vector<int> hundreds(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].node == nullptr) continue;
    const wao_figure f =
        by == objective::wao_v1 ? wao_v1_figure(pod, candidates[i]) : wao_v2_figure(pod, candidates[i]);
    watts[i] = f.watts;
    out[i].costs = {f.is, static_cast<double>(std::max<std::int64_t>(0, f.watts))};
  }
  if (by == objective::wao_v1) {
    wao_v1::normalise(watts, hundreds);
  } else {
    wao_v2::normalise(watts, hundreds);
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool failed = watts[i] < 0 && watts[i] != wao_v2::overload;
    if (!failed) scores[i] = static_cast<std::uint8_t>(std::max(1, (hundreds[i] + 5) / 10));
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

void score(objective by, const demand& pod, std::span<const candidate> candidates, std::span<placing> out,
           std::span<std::uint8_t> scores) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const candidate& c = candidates[i];
    out[i] = {};
    if (c.node == nullptr) continue;
    out[i].now = c.node->watts(c.load);
    out[i].with = c.node->watts(c.load + pod.cores);
    out[i].slope = c.node->from(c.load);
  }
  std::ranges::fill(scores, std::uint8_t{0});
  if (by == objective::wao_v1 || by == objective::wao_v2)
    return score_as_wao(by, pod, candidates, out, scores);
  std::vector<cost> costs(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].node == nullptr) continue;
    costs[i] = cost_of(*candidates[i].node, candidates[i].load, pod.cores,
                       by == objective::best_chord ? pod.cores * out[i].slope : out[i].with - out[i].now);
    out[i].costs = costs[i];
  }
  score_costs(costs, scores);
}

}  // namespace binnacle::predict
