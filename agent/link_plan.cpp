#include "agent/link_plan.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace binnacle::agent {

std::size_t link_plan::connected() const noexcept {
  std::set<std::string_view> met;
  for (const auto& s : slots_) {
    if (s.up) met.insert(s.leads_to);
  }
  return met.size();
}

std::size_t link_plan::wanted() const noexcept {
  std::size_t most = 0;
  for (const auto& s : slots_) {
    if (s.up) most = std::max(most, s.replicas);
  }
  return most;
}

bool link_plan::may_dial(std::size_t slot) const noexcept {
  if (slot >= slots_.size() || slots_[slot].up) return false;
  if (connected() < wanted()) return true;
  if (slot >= addresses_) return false;  // an extra slot has nobody to look for
  const auto& own = slots_[slot];
  if (own.leads_to.empty()) return true;
  return std::none_of(slots_.begin(), slots_.end(),
                      [&](const slot_state& s) { return s.up && s.leads_to == own.leads_to; });
}

std::optional<std::size_t> link_plan::welcomed(std::size_t slot, const std::string& replica_id,
                                               std::size_t replicas) {
  std::optional<std::size_t> older;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (i != slot && slots_[i].up && slots_[i].leads_to == replica_id) older = i;
  }
  if (older) slots_[*older].up = false;
  slots_[slot] = {true, replica_id, replicas};
  const auto needed = std::min(std::max(addresses_, wanted()), std::max(addresses_, most_slots));
  if (slots_.size() < needed) slots_.resize(needed);
  return older;
}

void link_plan::lost(std::size_t slot) noexcept { slots_[slot].up = false; }

}  // namespace binnacle::agent
