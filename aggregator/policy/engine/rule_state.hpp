#pragma once

#include "aggregator/policy/policy.hpp"

namespace binnacle::policy {

/// What one rule knows of one node. A small state machine without a clock: it moves when a value is observed
/// or lost.
///
///   off ──true──▶ pending ──true for `hold`, in sample time──▶ on ──cleared──▶ off
///
/// Pending falls back to off with the first value that is not true, and with absence. On is left only where
/// the rule clears: at its target, or with clearBelow/clearAbove past that, so that inside the band nothing
/// changes.
struct rule_state {
  instant true_since{};  ///< pending: read time (of the newest member) of the first true value of this run
  bool pending = false;
  bool on = false;  ///< the rule counts as true; while !known what it was last (a frozen strategy goes by it)
  bool known = false;       ///< there is a value now
  bool ever_known = false;  ///< there was one since this state began
  bool settled = false;     ///< has been decided by values; a label found on the node no longer matters
  bool explains = false;    ///< values turned it on: a label of its that the node carries may be its doing
  bool given_up = false;    ///< never known, and we have stopped waiting for it: counts as off
  bool filling = false;     ///< values come, but do not cover the rule's window yet: no use giving it up
};

/// True if `value` meets the rule's comparison, exactly.
bool holds(const rule& r, decimal value) noexcept;

/// Whether a present value says what the rule is: always, if it is exact. A partial one does if the members
/// that are missing could not make it another: the maximum of some sensors can be too high, it cannot be low
/// enough. One that does not is no value (lose()).
bool decides(const rule_state& s, const rule& r, const store::sample& value) noexcept;

/// A present value that decides. Seeing the same sample again changes nothing.
void observe(rule_state& s, const rule& r, const store::sample& value) noexcept;

/// Values come, but cover too little of the rule's window to change a label: no value, except that it is on
/// its way.
void fill(rule_state& s) noexcept;

/// The value is gone. `freezes`: what was last known stays (deschedule, labeling); else the rule is off until
/// it is true again for its whole `hold`.
void lose(rule_state& s, bool freezes) noexcept;

/// The node carries the label that this rule gives: decides as long as values have not, that is before the
/// first one, inside the band, and while pending (a restart must not take a label away and put it back).
/// Returns true if that turned the rule on.
bool inherit(rule_state& s) noexcept;

/// The node does not carry the label that this rule gives: one that appears later is not the doing of a rule
/// that is off.
void see_no_label(rule_state& s) noexcept;

/// No value came within the grace: a label from before the start no longer counts. Returns true if that
/// changed anything.
bool give_up(rule_state& s) noexcept;

/// The state that a rule starts with when its policy was edited: all of `old` if the comparison is the same,
/// what it was last if the target or the operator is another (the label stays until the new ones clear it).
rule_state carried_over(const rule& now, const rule& before, const rule_state& old) noexcept;

}  // namespace binnacle::policy
