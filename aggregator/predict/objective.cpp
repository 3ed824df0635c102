#include "aggregator/predict/objective.hpp"

#include "aggregator/predict/wao_v2.hpp"

#include <algorithm>
#include <vector>

namespace binnacle::predict {
namespace {

/// WAO's figure for one candidate, below zero where it has none.
std::int64_t wao_watts(objective by, const demand& pod, const candidate& c) {
  const chords& power = *c.node;
  const double all = power.cores();
  if (by == objective::wao_v1) {
    const auto shares = wao_v1::shares_of(c.load, all, pod.wao_container);
    if (!shares) return wao_v1::failed;
    const auto at = [&](double share) {
      return power.watts(static_cast<double>(wao_v1::rounded(share)) * all);
    };
    return wao_v1::increase(at(shares->before), at(shares->after));
  }
  if (pod.wao_need <= 0) return wao_v2::error;
  if (c.load + pod.wao_need > all) return wao_v2::overload;
  return wao_v2::increase(power.watts(c.load), power.watts(c.load + pod.wao_need));
}

void score_as_wao(objective by, const demand& pod, std::span<const candidate> candidates,
                  std::span<placing> out, std::span<std::uint8_t> scores) {
  std::vector<std::int64_t> watts(candidates.size(), -1);
  std::vector<int> hundreds(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].node != nullptr) watts[i] = wao_watts(by, pod, candidates[i]);
  }
  if (by == objective::wao_v1) {
    wao_v1::normalise(watts, hundreds);
  } else {
    wao_v2::normalise(watts, hundreds);
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].node == nullptr) continue;
    out[i].costs = {watts[i] < 0 ? cost::known::over : cost::known::yes,
                    static_cast<double>(std::max<std::int64_t>(0, watts[i]))};
    scores[i] = static_cast<std::uint8_t>(std::max(1, (hundreds[i] + 5) / 10));
  }
}

}  // namespace

std::string_view to_string(objective o) noexcept {
  switch (o) {
    case objective::best_chord: return "BestChord";
    case objective::marginal: return "Marginal";
    case objective::wao_v1: return "WaoV1";
    case objective::wao_v2: return "WaoV2";
  }
  return "?";
}

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
