#include "aggregator/policy/engine/judge.hpp"

namespace binnacle::policy {
namespace {

constexpr std::uint16_t nobody = 0xffff;

/// A summary of one node's rules. Each index is that of the first rule of its kind, or `nobody`.
struct tally {
  std::uint16_t known_on = nobody;
  std::uint16_t known_off = nobody;
  std::uint16_t last_on = nobody;   // no value now, but true when it was last known
  std::uint16_t last_off = nobody;  // no value now, and not true before
  std::uint16_t unknown = nobody;
  std::uint16_t unknown_count = 0;
  bool touched = false;  // some rule has had a value
  bool lost = false;     // some rule has had one and has none now
  bool waiting = false;  // some rule has not, and we have not given it up
};

tally count(std::span<const rule_state> rules) noexcept {
  tally t;
  const auto first = [](std::uint16_t& at, std::size_t i) {
    if (at == nobody) at = static_cast<std::uint16_t>(i);
  };
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const rule_state& r = rules[i];
    t.touched = t.touched || r.ever_known;
    if (r.known) {
      first(r.on ? t.known_on : t.known_off, i);
      continue;
    }
    ++t.unknown_count;
    t.lost = t.lost || r.ever_known;
    if (r.given_up && !r.ever_known) {
      first(t.known_off, i);  // this node does not have the metric: no use waiting for it
      continue;
    }
    first(t.unknown, i);
    first(r.on ? t.last_on : t.last_off, i);
    t.waiting = t.waiting || (!r.ever_known && !r.given_up);
  }
  return t;
}

std::uint16_t or_zero(std::uint16_t index) noexcept { return index == nobody ? 0 : index; }

}  // namespace

judgement judge_ignoring_missing(logic op, std::span<const rule_state> rules, bool rejects) noexcept {
  const tally t = count(rules);
  const bool all = op == logic::all_of;
  const bool decided = all ? t.known_off != nobody : t.known_on != nobody;
  if (all ? !decided && t.unknown == nobody : decided)
    return {{state::violating, true, or_zero(t.known_on), t.unknown_count}};
  if (!decided && t.unknown != nobody && rejects)
    return {{state::missing, false, t.unknown, t.unknown_count}};
  return {{state::pass, false, 0, t.unknown_count}};
}

judgement judge_frozen(logic op, std::span<const rule_state> rules, bool was_violating) noexcept {
  const tally t = count(rules);
  const bool all = op == logic::all_of;
  const bool decided = t.unknown == nobody || (all ? t.known_off != nobody : t.known_on != nobody);
  if (decided) {
    const bool violating = all ? t.known_off == nobody : t.known_on != nobody;
    return {{violating ? state::violating : state::pass, violating,
             violating ? or_zero(t.known_on) : std::uint16_t{0}, t.unknown_count}};
  }
  // The missing values would decide. A node that violated before may still violate; no node begins to.
  const bool stays = was_violating && (all ? t.last_off == nobody : t.last_on != nobody);
  const bool blind = !t.touched || t.waiting;
  // A value that never came is not lost: the node may not have the metric at all.
  if (!t.lost && !stays) return {{state::pass, false, 0, t.unknown_count}, blind};
  return {{state::frozen, stays, stays ? or_zero(all ? t.unknown : t.last_on) : t.unknown, t.unknown_count},
          blind};
}

}  // namespace binnacle::policy
