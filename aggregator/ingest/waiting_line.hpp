#pragma once

#include "common/crowd.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace binnacle::ingest {

/// Peers that take turns, one group after the other, so that each group has the same share however many peers
/// it sends. In a group the first to come is the first to go. Pure.
template <class Peer>
class turns {
 public:
  void add(const network& group, Peer who) {
    std::deque<Peer>& in = groups_[group];
    moved(group, in.size(), in.size() + 1);
    in.push_back(std::move(who));
  }
  /// Takes the first peer of the group whose turn it is. There must be one.
  Peer next() {
    auto whose = groups_.upper_bound(last_);
    if (whose == groups_.end()) whose = groups_.begin();
    last_ = whose->first;
    return take(last_, 0);
  }
  /// Takes one peer of that group out of turn.
  Peer take(const network& group, std::size_t which) {
    const auto from = groups_.find(group);
    moved(group, from->second.size(), from->second.size() - 1);
    const auto at = std::next(from->second.begin(), static_cast<std::ptrdiff_t>(which));
    Peer out = std::move(*at);
    from->second.erase(at);
    if (from->second.empty()) groups_.erase(from);
    return out;
  }
  std::size_t count(const network& group) const {
    const auto at = groups_.find(group);
    return at == groups_.end() ? 0 : at->second.size();
  }
  /// The group that has most peers, and how many. There must be one.
  std::pair<std::size_t, network> largest() const { return *by_size_.rbegin(); }
  /// That group. Of groups with equally many each has its turn.
  std::pair<std::size_t, network> next_largest() {
    const std::size_t most = largest().first;
    auto at = by_size_.upper_bound({most, last_largest_});
    if (at == by_size_.end()) at = by_size_.lower_bound({most, network{}});
    last_largest_ = at->second;
    return *at;
  }
  bool empty() const noexcept { return groups_.empty(); }
  void clear() {
    groups_.clear();
    by_size_.clear();
  }

 private:
  void moved(const network& which, std::size_t before, std::size_t after) {
    if (before > 0) by_size_.erase({before, which});
    if (after > 0) by_size_.insert({after, which});
  }

  std::map<network, std::deque<Peer>> groups_;
  std::set<std::pair<std::size_t, network>> by_size_;
  network last_{}, last_largest_{};  // the groups that had their turns last
};

/// Which connection begins its handshake next. In three of four turns it is one from an address from which an
/// agent was welcomed before. These addresses take turns; so do the networks of the others (strangers). Thus
/// whoever shares an agent's address can fill the turns of that address, and no other agent's. Pure.
template <class Peer>
class waiting_line {
 public:
  /// `most_of_network`: how many strangers of one network may wait. They are served in order, so without this
  /// bound a crowd would keep an agent of its own network waiting for long. A known address has no such
  /// bound: a whole fleet may be behind it (NAT).
  explicit waiting_line(std::size_t most_of_network) : most_of_network_(most_of_network) {}

  /// Adds a connection; `group` is the address of a known one, and the network of a stranger. If there are
  /// `most` in line already, or too many of this network, it returns the connection that must go (drop()).
  /// `draw(n)` chooses one of n.
  template <class Draw>
  std::optional<Peer> join(const network& group, bool known, Peer who, std::size_t most, Draw draw) {
    std::optional<Peer> lost;
    const std::size_t own = known ? 0 : strangers_.count(group);
    if (own > 0 && own >= most_of_network_) {
      lost = strangers_.take(group, draw(own));
      --size_;
    } else if (size_ > 0 && size_ >= most) {
      lost = drop(draw);
    }
    (known ? known_ : strangers_).add(group, std::move(who));
    ++size_;
    return lost;
  }

  /// Takes the next connection out of the line, which must not be empty.
  Peer next() {
    const bool is_strangers_turn = known_.empty() || (!strangers_.empty() && turn_++ % 4 == 3);
    --size_;
    return is_strangers_turn ? strangers_.next() : known_.next();
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  void clear() {
    known_.clear();
    strangers_.clear();
    size_ = 0;
  }

 private:
  /// Takes a connection out of a full line. A known address with more than half of the line loses one,
  /// because no new node could come in otherwise; else the strangers' network that has most; else, if there
  /// are no strangers, the known address that has most.
  template <class Draw>
  Peer drop(Draw& draw) {
    const bool is_crowd = !known_.empty() && known_.largest().first > size_ / 2;
    turns<Peer>& from = is_crowd || strangers_.empty() ? known_ : strangers_;
    const auto [of, group] = from.next_largest();
    --size_;
    return from.take(group, draw(of));
  }

  std::size_t most_of_network_, size_ = 0;
  turns<Peer> known_, strangers_;
  std::uint64_t turn_ = 0;
};

}  // namespace binnacle::ingest
