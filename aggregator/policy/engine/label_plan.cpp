#include "aggregator/policy/engine/label_plan.hpp"

#include <algorithm>

namespace binnacle::policy {

label_plan::label_plan(const strategy& s) {
  for (std::size_t r = 0; r < s.rules.size(); ++r) {
    for (const auto& [name, value] : s.rules[r].labels) {
      auto at = std::ranges::find(keys_, name, &key::name);
      if (at == keys_.end()) at = keys_.insert(keys_.end(), key{name, {}, true});
      const auto index = static_cast<std::uint16_t>(r);
      if (!at->offers.empty()) {
        if (at->offers.back().rule == index) continue;  // given twice by one rule: the first stays
        at->one_direction =
            at->one_direction && towards(s.rules[at->offers.front().rule].op) == towards(s.rules[r].op);
        contested_ = true;
      }
      at->offers.push_back({index, value});
    }
  }
}

namespace {

std::uint16_t winner(const label_plan::key& k, const strategy& s, std::span<const rule_state> rules,
                     std::span<const std::optional<decimal>> values, std::uint16_t previous) {
  std::uint16_t best = label_plan::none;
  std::optional<decimal> best_value;
  bool previous_contends = false;
  bool one_missing = false;
  std::size_t contenders = 0;
  for (const auto& offer : k.offers) {
    if (!rules[offer.rule].on) continue;
    ++contenders;
    previous_contends = previous_contends || offer.rule == previous;
    if (best == label_plan::none) best = offer.rule;
  }
  if (contenders < 2) return best;
  bool (*decides_over)(const decimal&, const decimal&) = nullptr;
  switch (towards(s.rules[best].op)) {
    case direction::larger: decides_over = [](const decimal& a, const decimal& b) { return a > b; }; break;
    case direction::smaller: decides_over = [](const decimal& a, const decimal& b) { return a < b; }; break;
    case direction::at_target: return best;
  }
  const std::uint16_t first = best;
  for (const auto& offer : k.offers) {
    if (!rules[offer.rule].on) continue;
    const std::optional<decimal>& value = values[offer.rule];
    if (!value) {
      one_missing = true;
      continue;
    }
    if (!best_value || decides_over(*value, *best_value)) {
      best = offer.rule;
      best_value = value;
    }
  }
  if (!one_missing) return best;
  return previous_contends ? previous : first;
}

/// Whether two rules that are true now give this label although they look in different directions.
bool at_odds(const label_plan::key& k, const strategy& s, std::span<const rule_state> rules) {
  const rule* first = nullptr;
  return std::ranges::any_of(k.offers, [&](const label_plan::offer& o) {
    if (!rules[o.rule].on) return false;
    if (first == nullptr) first = &s.rules[o.rule];
    return towards(first->op) != towards(s.rules[o.rule].op);
  });
}

}  // namespace

bool label_plan::resolve(const strategy& s, std::span<const rule_state> rules, bool labelled,
                         std::span<const std::optional<decimal>> values,
                         std::span<std::uint16_t> winners) const {
  bool changed = false;
  labelled = labelled && std::ranges::none_of(
                             keys_, [&](const key& k) { return !k.one_direction && at_odds(k, s, rules); });
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const std::uint16_t now = labelled ? winner(keys_[k], s, rules, values, winners[k]) : none;
    changed = changed || now != winners[k];
    winners[k] = now;
  }
  return changed;
}

}  // namespace binnacle::policy
