// The part of a decision that spreads pods which ask for it (aggregator/spread), beside a policy or without
// one.

#include "aggregator/extender/decider.hpp"
#include "common/text/json_writer.hpp"

#include <algorithm>

namespace binnacle::extender {

using decision::candidate_outcome;

void decider::open_spread(std::string_view pod_text, instant now) {
  plan_ = shared_.spreading.open(record_.pod.uid, record_.pod.name_space, pod_text, now);
  if (plan_ && plan_->restricts()) append_json_string(quoted_spread_, spread::refusal(plan_->told));
}

/// Refuses the candidates in areas where the pod should not go, among those that the policy leaves (or would
/// leave in DryRun). At least one candidate stays.
void decider::spread_out(const name_list& names, std::size_t from, instant now) {
  if (!plan_->restricts()) return;
  std::vector<std::uint8_t> may(batch_.size());
  std::vector<std::uint16_t> why(batch_.size());
  for (std::size_t i = 0; i < may.size(); ++i) may[i] = by_.dry_run() || !is_refused(batch_[i].what);
  const std::vector<std::uint8_t> before = may;
  shared_.spreading.choose(
      *plan_, record_.pod.uid, [&](std::size_t i) { return names[from + i]; }, may, why, now);
  for (std::size_t i = 0; i < may.size(); ++i) {
    if (may[i] == before[i]) continue;
    batch_[i].what = candidate_outcome::refused_spread;
    batch_[i].rule = why[i];
  }
}

/// Settles on one area if several have equally few pods of the workload and filter let them all pass. The
/// scheduler asks about the next pod a few milliseconds later, before the binding is seen, so the area must
/// be known by then. The pod's uid chooses one of the best candidates, and candidates with the same score in
/// other areas lose one point. `given` means that the scores are the policy's; otherwise all are 0, and the
/// chosen area gets one point.
std::vector<std::uint8_t> decider::settled(spread::area_kind kind, const name_list& names,
                                           std::vector<std::uint8_t> scores, bool given) {
  std::vector<std::string_view> area(scores.size());
  const std::uint8_t best = scores.empty() ? std::uint8_t(0) : *std::ranges::max_element(scores);
  std::size_t equals = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] != best) continue;
    area[i] = shared_.spreading.area_of(kind, names[i]);
    if (!area[i].empty()) ++equals;
  }
  std::string_view first;
  std::size_t skip = equals == 0 ? 0 : std::hash<std::string>{}(record_.pod.uid) % equals;
  for (std::size_t i = 0; i < scores.size() && first.empty(); ++i) {
    if (area[i].empty() || skip-- != 0) continue;
    shared_.spreading.settle(record_.pod.uid, names[i]);
    first = area[i];
  }
  const auto elsewhere = [&](std::size_t i) { return scores[i] == best && area[i] != first; };
  bool any = false;
  for (std::size_t i = 0; i < scores.size() && !first.empty(); ++i) any = any || elsewhere(i);
  if (!any) return given ? scores : std::vector<std::uint8_t>{};

  std::vector<std::uint8_t> out = scores;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (best != 0 && elsewhere(i)) --out[i];
    if (best == 0 && area[i] == first) ++out[i];
  }
  spread::facts f;
  f.is = spread::facts::state::settled;
  f.kind = kind;
  f.goes_to = first;
  record_.spread = std::make_shared<const spread::facts>(std::move(f));
  return out;
}

}  // namespace binnacle::extender
