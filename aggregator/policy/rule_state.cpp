#include "aggregator/policy/rule_state.hpp"

namespace binnacle::policy {
namespace {

bool meets(comparison op, std::strong_ordering order) noexcept {
  switch (op) {
    case comparison::less_than: return order < 0;
    case comparison::greater_than: return order > 0;
    case comparison::equals: return order == 0;
  }
  return false;
}

/// Past the clearing threshold, strictly.
bool clears(const rule& r, decimal value) noexcept {
  if (!r.clear) return !holds(r, value);
  const auto order = compare(value, *r.clear);
  return r.op == comparison::greater_than ? order < 0 : order > 0;
}

}  // namespace

bool holds(const rule& r, decimal value) noexcept { return meets(r.op, compare(value, r.target)); }

bool decides(const rule_state& s, const rule& r, const store::sample& value) noexcept {
  using store::certainty;
  if (value.sure == certainty::exact) return true;
  // Towards where the whole number would make it the other way round.
  const bool on = s.on ? !clears(r, value.value) : holds(r, value.value);
  const auto reversed_by = [&] {
    switch (r.op) {
      case comparison::greater_than: return on ? certainty::at_most : certainty::at_least;
      case comparison::less_than: return on ? certainty::at_least : certainty::at_most;
      case comparison::equals: break;
    }
    if (on) return certainty::unsure;
    return compare(value.value, r.target) > 0 ? certainty::at_most : certainty::at_least;
  }();
  return (value.sure & reversed_by) == certainty::exact;
}

void observe(rule_state& s, const rule& r, const store::sample& value) noexcept {
  s.known = true;
  s.ever_known = true;
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

void lose(rule_state& s, bool freezes) noexcept {
  s.known = false;
  s.pending = false;
  if (!freezes) s.on = false;
}

bool inherit(rule_state& s) noexcept {
  if (s.settled || s.on || s.given_up) return false;
  s.on = true;
  s.pending = false;
  return true;
}

void see_no_label(rule_state& s) noexcept { s.explains = s.explains && s.on; }

bool give_up(rule_state& s) noexcept {
  if (s.ever_known || s.given_up) return false;
  s.given_up = true;
  s.on = false;
  return true;
}

rule_state carried_over(const rule& now, const rule& before, const rule_state& old) noexcept {
  rule_state s = old;
  if (now.target != before.target || now.column() != before.column()) {
    s.pending = false;
    s.settled = false;
  }
  return s;
}

}  // namespace binnacle::policy
