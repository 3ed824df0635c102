#include "aggregator/policy/engine/input.hpp"

#include <algorithm>

namespace binnacle::policy {

input::cell& input::at(store::node_id node) {
  if (index(node) >= cells_.size()) cells_.resize(index(node) + 1);
  return cells_[index(node)];
}

void input::attach(strategy_run& run, std::size_t rule) {
  auto at = std::ranges::find(users_, &run, &user::run);
  if (at == users_.end()) at = users_.insert(users_.end(), user{&run, {}});
  at->rules.push_back(rule);
}

void input::detach(const strategy_run& run) {
  std::erase_if(users_, [&run](const user& u) { return u.run == &run; });
}

void input::count(cell& c, bool present) {
  if (present == c.present) return;
  c.present = present;
  present_ += present ? 1 : -1;
  if (present_ != (present ? 1 : 0)) return;
  for (const user& u : users_) u.run->conditions_may_change();  // the first value of all, or the last
}

bool input::seed(store::node_id node, const store::sample& s, instant now, deadlines& due_list) {
  cell& c = at(node);
  const bool present = s.present(now);
  count(c, present);
  if (!present) return false;
  c.expires_at = s.expires_at;
  // Usually a deadline is on its way already: it will look again when it comes. That keeps an update at a few
  // nanoseconds.
  if (c.queued_for == instant{} || c.expires_at < c.queued_for) wake(node, c, due_list);
  return true;
}

void input::wake(store::node_id node, cell& c, deadlines& due_list) {
  c.queued_for = c.expires_at;
  due_list.push({c.expires_at, due::expiry, serial_, node});
}

bool input::awaits(store::node_id node, instant at) const noexcept {
  return index(node) < cells_.size() && cells_[index(node)].queued_for == at;
}

void input::feed(store::node_id node, const store::sample& s, instant now, run_context& out) {
  if (!seed(node, s, now, out.due)) {
    lose(node, out);
    return;
  }
  for (const user& u : users_) {
    for (const std::size_t r : u.rules) u.run->observe(r, node, s);
    u.run->judge_later(node, out);
  }
}

void input::lose(store::node_id node, run_context& out) {
  for (const user& u : users_) {
    for (const std::size_t r : u.rules) u.run->lose(r, node);
    u.run->judge_later(node, out);
  }
}

void input::expire(store::node_id node, instant at, instant now, run_context& out) {
  if (!awaits(node, at)) return;
  cell& c = cells_[index(node)];
  c.queued_for = {};
  if (!c.present) return;
  if (c.expires_at > now) {
    wake(node, c, out.due);
    return;
  }
  count(c, false);
  lose(node, out);
}

void input::forget(store::node_id node) { count(at(node), false); }

}  // namespace binnacle::policy
