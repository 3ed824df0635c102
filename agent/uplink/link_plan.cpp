#include "agent/uplink/link_plan.hpp"

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

// By another slot, or because what it led to has a link.
bool link_plan::is_taken(std::size_t slot, const std::string& address) const {
  const auto known = known_.find(address);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto& s = slots_[i];
    if (i != slot && s.at == address) return true;
    if (s.up && known != known_.end() && s.leads_to == known->second.led_to) return true;
  }
  return false;
}

std::vector<std::size_t> link_plan::choose(std::size_t slot, const std::vector<std::string>& addresses) {
  // Pods come and go with their addresses.
  std::erase_if(known_, [&](const auto& k) {
    return known_.size() > addresses.size() + most_slots &&
           std::ranges::find(addresses, k.first) == addresses.end();
  });
  slots_[slot].at.clear();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (!is_taken(slot, addresses[i])) out.push_back(i);
  }
  const bool all_taken = out.empty();
  for (std::size_t i = 0; all_taken && i < addresses.size(); ++i) out.push_back(i);
  std::ranges::stable_sort(out, {}, [&](std::size_t i) { return known_[addresses[i]].tried; });
  if (all_taken && out.size() > 1) out.resize(1);
  if (out.empty()) return out;
  slots_[slot].at = addresses[out.front()];
  known_[slots_[slot].at].tried = ++choices_;
  return out;
}

bool link_plan::may_be_replaced_by_us(std::size_t slot) const noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (i == slot) continue;
    const auto& other = slots_[i];
    const bool dials = !other.up && !other.at.empty();
    if (dials || (other.up && other.leads_to == slots_[slot].leads_to)) return true;
  }
  return false;
}

std::optional<std::size_t> link_plan::welcomed(std::size_t slot, const std::string& replica_id,
                                               std::size_t replicas) {
  std::optional<std::size_t> older;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (i != slot && slots_[i].up && slots_[i].leads_to == replica_id) older = i;
  }
  if (older) slots_[*older].up = false;
  slots_[slot].up = true;
  slots_[slot].leads_to = replica_id;
  slots_[slot].replicas = replicas;
  if (!slots_[slot].at.empty()) known_[slots_[slot].at].led_to = replica_id;
  const auto needed = std::min(std::max(addresses_, wanted()), std::max(addresses_, most_slots));
  if (slots_.size() < needed) slots_.resize(needed);
  return older;
}

void link_plan::lost(std::size_t slot) noexcept {
  slots_[slot].up = false;
  slots_[slot].at.clear();
}

}  // namespace binnacle::agent
