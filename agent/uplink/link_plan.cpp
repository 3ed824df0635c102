#include "agent/uplink/link_plan.hpp"

#include <algorithm>
#include <bit>
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
  if (known != known_.end() && known->second.balances) return false;
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
  std::vector<std::size_t> out, taken;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    (is_taken(slot, addresses[i]) ? taken : out).push_back(i);
  }
  const auto longest_ago = [&](std::size_t i) { return known_[addresses[i]].tried; };
  std::ranges::stable_sort(out, {}, longest_ago);
  // Less and less often: a dial of a replica that has a link takes that link over.
  const bool look_again = fruitless_ > 1 && std::has_single_bit(fruitless_);
  if (!taken.empty() && (out.empty() || look_again))
    out.push_back(*std::ranges::min_element(taken, {}, longest_ago));
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
  const auto before = connected();
  const std::string& at = slots_[slot].at;
  std::optional<std::size_t> older;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (i == slot || !slots_[i].up) continue;
    if (slots_[i].leads_to == replica_id) {
      older = i;
    } else if (!at.empty() && slots_[i].at == at) {
      known_[at].balances = true;
    }
  }
  if (older) {
    slots_[*older].up = false;
    slots_[*older].at.clear();
  }
  slots_[slot].up = true;
  slots_[slot].leads_to = replica_id;
  slots_[slot].replicas = replicas;
  if (!at.empty()) known_[at].led_to = replica_id;
  fruitless_ = connected() > before ? 0 : fruitless_ + 1;
  const auto needed = std::min(std::max(addresses_, wanted()), std::max(addresses_, most_slots));
  if (slots_.size() < needed) slots_.resize(needed);
  return older;
}

void link_plan::lost(std::size_t slot) noexcept {
  const bool came_to_nothing = !slots_[slot].up && !slots_[slot].at.empty();
  if (came_to_nothing) ++fruitless_;
  slots_[slot].up = false;
  slots_[slot].at.clear();
}

}  // namespace binnacle::agent
