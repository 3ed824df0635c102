#pragma once

#include "common/crowd.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace binnacle::ingest {

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
      lost = strangers_.leave(strangers_.seat_of(group, draw(own)));
    } else if (!empty() && size() >= most) {
      lost = drop(draw);
    }
    (known ? known_ : strangers_).enter(group, std::move(who));
    return lost;
  }

  /// Takes the next connection out of the line, which must not be empty.
  Peer next() {
    const bool is_strangers_turn = known_.empty() || (!strangers_.empty() && turn_++ % 4 == 3);
    crowd<Peer>& from = is_strangers_turn ? strangers_ : known_;
    return from.leave(from.next());
  }

  std::size_t size() const noexcept { return known_.size() + strangers_.size(); }
  bool empty() const noexcept { return size() == 0; }
  void clear() {
    known_ = crowd<Peer>();
    strangers_ = crowd<Peer>();
  }

 private:
  /// Takes a connection out of a full line. A known address with more than half of the line loses one,
  /// because no new node could come in otherwise; else the strangers' network that has most; else, if there
  /// are no strangers, the known address that has most.
  template <class Draw>
  Peer drop(Draw& draw) {
    const bool is_crowd = !known_.empty() && known_.largest().size() > size() / 2;
    crowd<Peer>& from = is_crowd || strangers_.empty() ? known_ : strangers_;
    const network most = from.next_largest();
    return from.leave(from.seat_of(most, draw(from.count(most))));
  }

  std::size_t most_of_network_;
  crowd<Peer> known_, strangers_;
  std::uint64_t turn_ = 0;
};

}  // namespace binnacle::ingest
