#include "aggregator/policy/engine/budget.hpp"

#include <algorithm>

namespace binnacle::policy {

label_budget::slot& label_budget::at(store::node_id node) {
  if (index(node) >= slots_.size()) slots_.resize(index(node) + 1);
  return slots_[index(node)];
}

bool label_budget::has(store::node_id node) const noexcept {
  return index(node) < slots_.size() && slots_[index(node)].taken;
}

std::uint32_t label_budget::slots(std::uint32_t known_nodes) const noexcept {
  if (!most_) return std::numeric_limits<std::uint32_t>::max();
  if (!most_->percent) return most_->count;
  return std::max<std::uint32_t>(1,
                                 static_cast<std::uint32_t>(std::uint64_t{known_nodes} * most_->count / 100));
}

void label_budget::take(slot& p, instant now) {
  p.taken = true;
  ++used_;
  last_given_ = now;
}

bool label_budget::ask(store::node_id node, instant now, std::uint32_t known_nodes) {
  slot& p = at(node);
  if (p.taken) return true;
  if (p.ticket != 0) return false;  // it waits in the queue until next() serves it
  if (writes_labels_ && queue_.empty() && used_ < slots(known_nodes) && cooled_down(now)) {
    take(p, now);
    return true;
  }
  p.ticket = next_ticket_++;
  queue_.emplace(p.ticket, node);
  return false;
}

void label_budget::wait_again(store::node_id node, std::uint64_t ticket) {
  slot& p = at(node);
  if (p.taken || p.ticket != 0 || !queue_.emplace(ticket, node).second) return;
  p.ticket = ticket;
  next_ticket_ = std::max(next_ticket_, ticket + 1);
}

void label_budget::stop_waiting(store::node_id node) {
  slot& p = at(node);
  if (p.ticket == 0) return;
  queue_.erase(p.ticket);
  p.ticket = 0;
}

bool label_budget::give_back(store::node_id node) {
  stop_waiting(node);
  slot& p = at(node);
  if (!p.taken) return false;
  p.taken = false;
  --used_;
  return true;
}

void label_budget::adopt(store::node_id node) {
  stop_waiting(node);
  slot& p = at(node);
  if (p.taken) return;
  p.taken = true;
  ++used_;
}

std::optional<store::node_id> label_budget::next(instant now, std::uint32_t known_nodes) {
  if (!writes_labels_ || queue_.empty() || used_ >= slots(known_nodes) || !cooled_down(now))
    return std::nullopt;
  const store::node_id node = queue_.begin()->second;
  stop_waiting(node);
  take(at(node), now);
  return node;
}

std::optional<instant> label_budget::next_at(std::uint32_t known_nodes) const noexcept {
  if (!writes_labels_ || queue_.empty() || !last_given_ || used_ >= slots(known_nodes)) return std::nullopt;
  return *last_given_ + cool_down_;
}

}  // namespace binnacle::policy
