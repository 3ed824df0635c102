#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
/// only from itself, and a caller from elsewhere keeps its seat. If peers are served one after the other, the
/// networks take turns. So each has the same share, however many peers it sends. The containers are ordered:
/// there is no hash for which a peer could choose colliding addresses. The cost is the logarithm of the
/// number of networks, but for seat_of(). Pure.
template <class Member>
class crowd {
 public:
  using members = std::list<Member>;
  struct seat {
    network from;
    typename members::iterator at;
  };

  seat enter(const network& from, Member who) {
    members& group = groups_[from];
    moved(from, group.size(), group.size() + 1);
    ++size_;
    return {from, group.insert(group.end(), std::move(who))};
  }
  Member leave(const seat& which) {
    const auto group = groups_.find(which.from);
    const std::size_t before = group->second.size();
    Member who = std::move(*which.at);
    group->second.erase(which.at);
    moved(which.from, before, before - 1);
    --size_;
    if (before == 1) groups_.erase(group);
    return who;
  }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// How many members are from that network.
  std::size_t count(const network& from) const {
    const auto group = groups_.find(from);
    return group == groups_.end() ? 0 : group->second.size();
  }
  /// The seat of the member of that network before which `earlier` others came. There must be one. Cost:
  /// linear in `earlier`.
  seat seat_of(const network& from, std::size_t earlier) {
    const auto first = groups_.find(from)->second.begin();
    return {from, std::next(first, static_cast<std::ptrdiff_t>(earlier))};
  }

  /// The members from the network that has most of them, in the order in which they came. The crowd must not
  /// be empty.
  const members& largest() const { return groups_.find(by_size_.rbegin()->second)->second; }
  /// The network that has most members. Of networks with equally many each has its turn. The crowd must not
  /// be empty.
  network next_largest() {
    const std::size_t most = by_size_.rbegin()->first;
    auto at = by_size_.upper_bound({most, last_largest_});
    if (at == by_size_.end()) at = by_size_.lower_bound({most, network{}});
    last_largest_ = at->second;
    return last_largest_;
  }
  /// The seat whose turn it is: the first of the next network. The crowd must not be empty.
  seat next() {
    auto whose = groups_.upper_bound(last_);
    if (whose == groups_.end()) whose = groups_.begin();
    last_ = whose->first;
    return {last_, whose->second.begin()};
  }

 private:
  void moved(const network& which, std::size_t before, std::size_t after) {
    if (before > 0) by_size_.erase({before, which});
    if (after > 0) by_size_.insert({after, which});
  }

  std::map<network, members> groups_;
  std::set<std::pair<std::size_t, network>> by_size_;
  std::size_t size_ = 0;
  network last_{}, last_largest_{};  // the networks that had their turns last
};

}  // namespace binnacle
