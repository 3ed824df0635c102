#pragma once

#include "common/clock.hpp"
#include "common/crowd.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <optional>

/// Who has a place at a server's port, and who gives way to a newcomer. Pure.
namespace binnacle::http {

class places;

/// What is lost if a connection is closed, the least first. `none`: it may not be closed.
enum class worth : unsigned char { unknown, idle, stuck, moving, none };

/// What a server knows of one connection when it looks for a place: where it comes from, whether its caller
/// is known, and what it waits for.
class guest {
 public:
  guest(const network& from, instant now) : from_(from), since_(now) {}
  virtual ~guest() = default;
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;

  /// Ends the connection: somebody else gets its place, or its certificate is denied.
  virtual void evict() = 0;

  /// A request (or the handshake), the peer within a request or an answer, our handler, or the peer's end. A
  /// connection that waits for our handler is never replaced: its caller did nothing wrong.
  enum class wait : unsigned char { request, peer, handler, end };
  void waits_for(wait what, instant now);
  /// The peer, for which the connection waits, has moved this many bytes. A byte now and then is not
  /// progress: see least_progress.
  void came_on(std::size_t bytes, instant now);
  void showed_certificate() { has_certificate_ = is_known_ = true; }
  void was_served() { is_known_ = true; }

  const network& from() const { return from_; }
  bool is_known() const { return is_known_; }  ///< it has shown a certificate of ours, or was served
  bool has_seat() const { return seat_.has_value(); }
  /// The start of the wait, or the peer's last progress.
  instant since() const { return since_; }
  /// `patience`: after this long without progress a peer counts as standing still.
  worth worth_now(instant now, duration patience) const;

 private:
  friend places;
  const network from_;
  std::optional<crowd<guest*>::seat> seat_;   // none after the connection was told to go
  std::optional<crowd<guest*>::seat> large_;  // its place among the connections with a large buffer
  std::optional<std::list<guest*>::iterator> answering_;
  std::size_t answer_ = 0;  // bytes for which the answer that is written counts
  wait waits_ = wait::request;
  instant since_;
  std::size_t progress_ = 0;      // bytes that the peer has moved since then
  bool has_certificate_ = false;  // one of ours
  bool is_known_ = false;
};

/// A peer counts as standing still if it moves less of a body than this within the patience.
constexpr std::size_t least_progress = 16u << 10;

/// How much a port has to give.
struct room {
  std::size_t places;
  std::size_t large_buffers;  ///< of connections without a certificate of ours
  std::size_t answer_bytes;   ///< of answers that wait until their peers take them
};

/// The places of a port.
class places {
 public:
  places(const room& most, duration patience) : most_(most), patience_(patience) {}

  /// The place of a connection, until it leaves.
  void enter(guest& who) { who.seat_ = seats_.enter(who.from(), &who); }
  void leave(guest& who);
  bool is_full() const { return seats_.size() >= most_.places; }
  /// Who gives way to a newcomer from this network: one of the network that has most places. Null: nobody.
  guest* gives_way_to(const network& from, instant now) const;

  /// Who must go before a connection without a certificate of ours may have a large buffer. Null: there is
  /// room.
  guest* gives_way_to_large() const {
    return large_.size() < most_.large_buffers ? nullptr : large_.largest().front();
  }
  void enter_large(guest& who) { who.large_ = large_.enter(who.from(), &who); }
  void leave_large(guest& who);

  /// Who must go before an answer of so many bytes may wait for its peer: the peer that has stood still for
  /// longest, if it has for the patience; else, of the network for which most bytes wait, the one that has
  /// taken nothing for longest. Null: there is room, or no other answer waits.
  guest* gives_way_to_answer(std::size_t bytes, instant now) const;
  /// An answer of so many bytes waits for this peer, until it leaves.
  void enter_answer(guest& who, std::size_t bytes);
  void leave_answer(guest& who);

 private:
  /// A very large answer may not displace all others, nor each of them it.
  std::size_t counted(std::size_t bytes) const { return std::min(bytes, most_.answer_bytes / 4); }

  const room most_;
  const duration patience_;
  crowd<guest*> seats_;
  crowd<guest*> large_;  // those of `seats_` with a large buffer and without our certificate
  std::list<guest*> answering_;
  std::size_t answer_bytes_ = 0;  // the sum of theirs
};

}  // namespace binnacle::http
