#pragma once

#include "aggregator/extender/context.hpp"
#include "aggregator/policy/published/scores.hpp"
#include "aggregator/predict/pod_cpu.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::extender {

/// Makes one decision: takes the candidates of a request, says what becomes of each, and writes the record.
/// Reads each value once, and allocates nothing per candidate. Candidates come one by one (full nodes) or all
/// at once. Many are worked on together, so that memory is fetched for several at a time.
class decider {
 public:
  decider(context& shared, decision::verb what) : shared_(shared) { record_.what = what; }

  /// Finds the policy. Call it before the first candidate. `pod_text` is the Pod's JSON, in which a policy
  /// that predicts watts looks for the pod's requests.
  void choose(const object_meta& pod, std::string_view pod_text, instant now);
  const pod_policy& by() const noexcept { return by_; }

  /// Filter and preempt: the next candidates, names[from..]. admitted(i) and refusal(i) hold until the next
  /// call, i counted from `from`.
  void admit(const name_list& names, std::size_t from, instant now);
  /// Whether the candidate may have the pod (always in DryRun and without a policy).
  bool admitted(std::size_t i) const noexcept {
    if (by_.strategy == nullptr && !plan_) return true;
    const decision::candidate_outcome what = batch_[i].what;
    return what != decision::candidate_outcome::refused_spread && (by_.dry_run() || !is_refused(what));
  }
  /// Filter: why it was not admitted, as a quoted JSON string: one text per policy and rule, without node
  /// name and live value, because the scheduler counts equal texts in its event.
  const std::string& refusal(std::size_t i) const noexcept {
    if (batch_[i].what == decision::candidate_outcome::refused_spread) return quoted_spread_;
    return quoted_refusals_[batch_[i].what == decision::candidate_outcome::refused
                                ? batch_[i].rule
                                : quoted_refusals_.size() - 1];
  }

  /// Filter: whether all candidates must come in one call of admit(), because the pod is to be spread and the
  /// places of its workload's other pods decide. Call it after choose().
  bool wants_all() const noexcept { return plan_ && plan_->restricts(); }

  /// Prioritize: the scores of all candidates, in their order; empty if nothing is there to score by.
  std::vector<std::uint8_t> score(const name_list& names, instant now);

  struct made {
    std::uint64_t id;
    decision::outcome how;
  };
  /// Puts the record in the ring and counts it. The last call.
  made finish(instant last_piece, instant now);

 private:
  void look_up(const name_list& names, std::size_t from);
  std::size_t list(const name_list& names, std::size_t from, instant now);
  std::vector<std::uint8_t> by_strategy(const name_list& names, std::size_t listed, instant now);
  std::vector<std::uint8_t> by_metric(const name_list& names, std::size_t listed, instant now);
  std::vector<std::uint8_t> by_watts(const name_list& names, std::size_t listed, instant now);
  void give_the_mean(std::vector<std::uint8_t>& scores, std::uint32_t opinions);
  void set_aside(const policy::out_of_line& odd, const name_list& names, instant now);
  void damp(std::vector<std::uint8_t>& scores, instant now);
  void expect(const name_list& names, const std::vector<std::uint8_t>& scores, instant now);
  void write_refusals();
  void judge(instant now);
  void open_spread(std::string_view pod_text, instant now);
  void spread_out(const name_list& names, std::size_t from, instant now);
  std::vector<std::uint8_t> settled(spread::area_kind kind, const name_list& names,
                                    std::vector<std::uint8_t> scores, bool given);

  context& shared_;
  pod_policy by_;
  decision::record record_;
  std::vector<store::node_id> ids_;  // of the batch
  std::vector<decision::candidate> batch_;
  std::vector<std::string> quoted_refusals_;    // by rule; the last one for missing data
  std::optional<spread::spreader::plan> plan_;  // filter: the pod asks to be spread
  std::string quoted_spread_;
  std::size_t most_listed_ = 0;  // candidates that the record may list
  predict::pod_cpu cpu_;         // of the pod, for policies that predict
  std::int32_t oldest_ms_ = -1;
  bool no_opinion_ = false;  // nothing is predicted of any candidate
};

}  // namespace binnacle::extender
