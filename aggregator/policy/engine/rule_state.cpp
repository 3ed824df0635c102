#include "aggregator/policy/engine/rule_state.hpp"

namespace binnacle::policy {
namespace {

bool clears(const rule& r, decimal value) noexcept {
  return r.clear ? past_clearing(r.op, compare(value, *r.clear)) : !holds(r, value);
}

}  // namespace

bool holds(const rule& r, decimal value) noexcept { return meets(r.op, compare(value, r.target)); }

bool decides(const rule_state& s, const rule& r, const store::sample& value) noexcept {
  using store::certainty;
  if (value.sure == certainty::exact) return true;
  // The kind of uncertainty with which the whole value could reverse the answer.
  const bool on = s.on ? !clears(r, value.value) : holds(r, value.value);
  const auto reversed_by = [&] {
    switch (towards(r.op)) {
      case direction::larger: return on ? certainty::at_most : certainty::at_least;
      case direction::smaller: return on ? certainty::at_least : certainty::at_most;
      case direction::at_target: break;
    }
    if (on) return certainty::unsure;
    return compare(value.value, r.target) > 0 ? certainty::at_most : certainty::at_least;
  }();
  return (value.sure & reversed_by) == certainty::exact;
}

void observe(rule_state& s, const rule& r, const store::sample& value) noexcept {
  s.known = true;
  s.ever_known = true;
  s.filling = false;
  if (s.on) {
    if (!clears(r, value.value)) return;
    s.on = false;
    s.settled = true;
    return;
  }
  if (!holds(r, value.value)) {
    s.pending = false;
    s.settled = s.settled || clears(r, value.value);
    return;
  }
  if (!s.pending) {
    s.pending = true;
    s.true_since = value.newest_read_at();
  }
  if (value.newest_read_at() - s.true_since >= r.hold) {
    s.pending = false;
    s.on = true;
    s.settled = true;
    s.explains = true;
  }
}

void fill(rule_state& s) noexcept {
  lose(s, true);
  s.filling = true;
}

void lose(rule_state& s, bool freezes) noexcept {
  s.known = false;
  s.filling = false;
  if (s.recalled) return;
  s.pending = false;
  if (!freezes) s.on = false;
}

void go_on(rule_state& s, duration unseen) noexcept {
  s.recalled = false;
  if (!s.known && unseen > longest_unseen) s.pending = false;
}

bool inherit(rule_state& s) noexcept {
  if (s.settled || s.on || s.given_up) return false;
  s.on = true;
  s.pending = false;
  return true;
}

void see_no_label(rule_state& s) noexcept { s.explains = s.explains && s.on; }

bool give_up(rule_state& s) noexcept {
  if (s.ever_known || s.given_up || s.filling) return false;
  s.given_up = true;
  s.on = false;
  return true;
}

rule_state carried_over(const rule& now, const rule& before, const rule_state& old) noexcept {
  rule_state s = old;
  if (now.op != before.op || now.target != before.target || now.column() != before.column()) {
    s.pending = false;
    s.settled = false;
  }
  return s;
}

}  // namespace binnacle::policy
