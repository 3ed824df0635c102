#pragma once

#include "aggregator/policy/policy.hpp"

namespace binnacle::policy {

/// What one rule knows about one node: a small state machine without a clock. It moves when a value is
/// observed or lost.
///
///   off ──true──▶ pending ──true for `hold`, in sample time──▶ on ──cleared──▶ off
///
/// Pending falls back to off with the first value that does not meet the comparison, and with absence. On is
/// left only when the rule clears: at its target, or past clearBelow or clearAbove. Between these two
/// thresholds (inside the band) nothing changes.
struct rule_state {
  instant true_since{};  ///< pending: read time (of the newest member) of the first true value of this run
  bool pending = false;
  bool on = false;  ///< the rule counts as true; while !known: its last state, which a frozen strategy uses
  bool known = false;       ///< there is a value now
  bool ever_known = false;  ///< there was one since this state began
  bool settled = false;     ///< values have decided it, so a label found on the node no longer matters
  bool explains = false;    ///< values turned it on, so it may be the reason of a label that the node carries
  bool filling = false;     ///< values come, but do not cover the rule's window yet: it is not given up
  bool given_up : 1 = false;  ///< never known, and no longer waited for: counts as off
  bool recalled : 1 = false;  ///< of an earlier process; the node's agent has not come to this one since
};
static_assert(sizeof(rule_state) == 16, "an update of many nodes and rules goes through as many of these");

/// True if `value` meets the rule's comparison, exactly.
bool holds(const rule& r, decimal value) noexcept;

/// Whether a present value decides the rule. An exact value always does. A partial value does if the missing
/// members could not change the answer: the maximum of some sensors can prove that the node is too hot, but
/// never that it is cool enough. A value that does not decide counts as no value (lose()).
bool decides(const rule_state& s, const rule& r, const store::sample& value) noexcept;

/// Takes a present value that decides. Taking the same sample again changes nothing.
void observe(rule_state& s, const rule& r, const store::sample& value) noexcept;

/// Values come, but cover too little of the rule's window to change a label. That is like no value, except
/// that the rule is not given up.
void fill(rule_state& s) noexcept;

/// The value is gone. With `freezes` (deschedule, labeling) the last known state stays. Otherwise the rule is
/// off until it has been true again for its whole `hold`. A recalled state keeps everything but its value: an
/// agent that still looks for this process says nothing of its node.
void lose(rule_state& s, bool freezes) noexcept;

/// The longest time without values after which a recalled `for` goes on. An agent finds a new replica within
/// 45 s: a look-up every 12 s, behind a DNS cache of 30 s.
inline constexpr duration longest_unseen = std::chrono::minutes(1);

/// The node's agent has come, so from now on an absence of values is one. A recalled state goes on with the
/// value that comes next: inside the band as it was. `unseen`: between the state and that value.
void go_on(rule_state& s, duration unseen) noexcept;

/// The node carries the label that this rule gives. This decides as long as values have not: before the first
/// value, inside the band, and while pending. So a restart does not take a label away and put it back.
/// Returns true if this turned the rule on.
bool inherit(rule_state& s) noexcept;

/// The node does not carry the label that this rule gives. If the label appears later while this rule is off,
/// this rule is not the reason.
void see_no_label(rule_state& s) noexcept;

/// No value came within the grace: a label from before the start no longer counts. Returns true if that
/// changed anything.
bool give_up(rule_state& s) noexcept;

/// The state that a rule starts with when its policy was edited: all of `old` if the comparison is the same;
/// only whether it was on if the target or the operator changed (the label stays until the new ones clear
/// it).
rule_state carried_over(const rule& now, const rule& before, const rule_state& old) noexcept;

}  // namespace binnacle::policy
