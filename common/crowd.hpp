#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <utility>

namespace binnacle {

/// The network that a peer belongs to: its address with the last bits cut off. IPv4 is mapped into IPv6 (RFC
/// 4291 2.5.5.2).
struct network {
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const network&, const network&) = default;
};

/// Peers that share something bounded, grouped by the network that they come from. If there is no room for a
/// newcomer, a peer of the network that has most peers must give way. So a crowd from one network takes room
/// only from itself, and a caller from elsewhere keeps its seat. The containers are ordered: there is no hash
/// for which a peer could choose colliding addresses. Enter and leave cost the logarithm of the number of
/// networks. Pure.
template <class Member>
class crowd {
 public:
  using members = std::list<Member*>;
  struct seat {
    network from;
    typename members::iterator at;
  };

  seat enter(const network& from, Member* who) {
    members& group = groups_[from];
    moved(from, group.size(), group.size() + 1);
    ++size_;
    return {from, group.insert(group.end(), who)};
  }
  void leave(const seat& which) {
    const auto group = groups_.find(which.from);
    const std::size_t before = group->second.size();
    group->second.erase(which.at);
    moved(which.from, before, before - 1);
    --size_;
    if (before == 1) groups_.erase(group);
  }
  std::size_t size() const noexcept { return size_; }
  /// The members from the network that has most of them, in the order in which they came. The crowd must not
  /// be empty.
  const members& largest() const { return groups_.find(by_size_.rbegin()->second)->second; }

 private:
  void moved(const network& which, std::size_t before, std::size_t after) {
    if (before > 0) by_size_.erase({before, which});
    if (after > 0) by_size_.insert({after, which});
  }

  std::map<network, members> groups_;
  std::set<std::pair<std::size_t, network>> by_size_;
  std::size_t size_ = 0;
};

}  // namespace binnacle
