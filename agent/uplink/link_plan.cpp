#include "agent/uplink/link_plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace binnacle::agent {
namespace {

constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

}  // namespace

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
  return misses_one(slot) || unmet(address_of(slot), slot) > 0;
}

// Whether a replica is missing that this slot should look for: by the number that replicas give, or because
// this slot's own replica has no link.
bool link_plan::misses_one(std::size_t slot) const noexcept {
  if (connected() < wanted()) return true;
  if (slot >= addresses_) return false;  // an extra slot belongs to no particular replica
  const auto& own = slots_[slot];
  if (own.leads_to.empty()) return true;
  return std::none_of(slots_.begin(), slots_.end(),
                      [&](const slot_state& s) { return s.up && s.leads_to == own.leads_to; });
}

// Whether another slot uses the address, or the replica behind it has a link.
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

// Whether the address leads to a replica that no link has met yet. A replica has one address in each family
// (IPv4, IPv6), so only addresses of a family in which links are up count: the other family may lead nowhere.
// A load balancer's addresses say nothing about the number of replicas.
bool link_plan::is_unmet(std::size_t slot, const std::string& address) const {
  const auto known = known_.find(address);
  if (known != known_.end() && known->second.balances) return false;
  const auto is_v6 = [](const std::string& a) { return a.starts_with('['); };
  const bool same_family = std::ranges::any_of(
      slots_, [&](const slot_state& s) { return s.up && !s.at.empty() && is_v6(s.at) == is_v6(address); });
  return same_family && !is_taken(slot, address);
}

// Whether nobody has tried the address, and no dial has begun because of it.
bool link_plan::is_new(const std::string& address) const {
  const auto known = known_.find(address);
  return known == known_.end() || (known->second.tried == 0 && !known->second.offered);
}

// How many addresses of a name lead to replicas that no link has met, less the dials that will take one of
// them. The dial of slot `but` is not subtracted.
std::size_t link_plan::unmet(std::size_t name, std::size_t but) const noexcept {
  const auto& addresses = names_[name];
  const auto found = static_cast<std::size_t>(
      std::ranges::count_if(addresses, [&](const std::string& a) { return is_unmet(but, a); }));
  std::size_t choosing = 0;
  for (std::size_t i = name; i < slots_.size(); i += addresses_) {
    if (i != but && slots_[i].choosing) ++choosing;
  }
  return found - std::min(found, choosing);
}

bool link_plan::has_new_address(std::size_t slot) const noexcept {
  return !slots_[slot].up && std::ranges::any_of(names_[address_of(slot)], [&](const std::string& a) {
    return is_new(a) && is_unmet(slot, a);
  });
}

void link_plan::dials(std::size_t slot) {
  slots_[slot].choosing = true;
  const auto& addresses = names_[address_of(slot)];
  const auto fresh =
      std::ranges::find_if(addresses, [&](const std::string& a) { return is_new(a) && is_unmet(slot, a); });
  if (fresh != addresses.end()) known_[*fresh].offered = true;
}

bool link_plan::resolved(std::size_t name, std::vector<std::string> addresses) {
  std::ranges::sort(addresses);
  if (names_[name] == addresses) return false;
  names_[name] = std::move(addresses);
  grow();
  return true;
}

// Adds slots, so that there is a free one for each missing replica.
void link_plan::grow() {
  const auto most = std::max(addresses_, most_slots);
  auto needed = std::min(std::max(addresses_, wanted()), most);
  for (std::size_t name = 0; name < addresses_; ++name) {
    auto open = unmet(name, nobody);
    std::size_t next = name;
    for (; next < slots_.size(); next += addresses_) {
      if (!slots_[next].up && slots_[next].at.empty() && !slots_[next].choosing)
        open -= std::min<std::size_t>(open, 1);
    }
    if (open > 0) needed = std::max(needed, std::min(next + (open - 1) * addresses_ + 1, most));
  }
  if (slots_.size() < needed) slots_.resize(needed);
}

std::vector<std::size_t> link_plan::choose(std::size_t slot, const std::vector<std::string>& addresses) {
  const bool takes_over = !only_meets(slot);
  // Pods come and go with their addresses, so forget addresses that are gone.
  std::erase_if(known_, [&](const auto& k) {
    return known_.size() > addresses.size() + most_slots &&
           std::ranges::find(addresses, k.first) == addresses.end();
  });
  slots_[slot].at.clear();
  slots_[slot].choosing = false;
  std::vector<std::size_t> out, taken;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (takes_over)
      (is_taken(slot, addresses[i]) ? taken : out).push_back(i);
    else if (is_unmet(slot, addresses[i]))
      out.push_back(i);
  }
  const auto longest_ago = [&](std::size_t i) { return known_[addresses[i]].tried; };
  std::ranges::stable_sort(out, {}, longest_ago);
  // Look more and more seldom: dialling a replica that has a link takes that link over.
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
  slots_[slot].choosing = false;
  slots_[slot].leads_to = replica_id;
  slots_[slot].replicas = replicas;
  if (!at.empty()) known_[at].led_to = replica_id;
  fruitless_ = connected() > before ? 0 : fruitless_ + 1;
  grow();
  return older;
}

void link_plan::lost(std::size_t slot) noexcept {
  const bool came_to_nothing = !slots_[slot].up && !slots_[slot].at.empty();
  if (came_to_nothing) ++fruitless_;
  slots_[slot].up = false;
  slots_[slot].choosing = false;
  slots_[slot].at.clear();
}

}  // namespace binnacle::agent
