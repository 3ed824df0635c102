#pragma once

#include "common/crowd.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace binnacle::ingest {

/// Which connection begins its handshake next. In three of four turns it is one from an address from which an
/// agent was welcomed before. The others (strangers) take turns, one network after the other, so that each
/// network has the same share however many connections it sends. Pure.
template <class Peer>
class waiting_line {
 public:
  /// `most_of_network`: how many strangers of one network may wait. They are served in order, so without this
  /// bound a crowd would keep an agent of its own network waiting for long.
  explicit waiting_line(std::size_t most_of_network) : most_of_network_(most_of_network) {}

  /// Adds a connection. If there are `most` in line already, or too many of this network, it returns the
  /// connection that must go: one of the strangers' network that has most in line, or, if there are no
  /// strangers, one of the known. `draw(n)` chooses one of n.
  template <class Draw>
  std::optional<Peer> join(const network& from, bool known, Peer who, std::size_t most, Draw draw) {
    std::optional<Peer> lost;
    const auto own = known ? strangers_.end() : strangers_.find(from);
    if (own != strangers_.end() && own->second.size() >= most_of_network_) {
      lost = take_one(own, draw(own->second.size()));
    } else if (size_ > 0 && size_ >= most) {
      lost = drop(draw);
    }
    (known ? known_ : strangers_[from]).push_back(std::move(who));
    ++size_;
    return lost;
  }

  /// Takes the next connection out of the line, which must not be empty.
  Peer next() {
    const bool is_strangers_turn = known_.empty() || (!strangers_.empty() && turn_++ % 4 == 3);
    if (!is_strangers_turn) return take(known_, 0);
    auto whose = strangers_.upper_bound(last_);
    if (whose == strangers_.end()) whose = strangers_.begin();
    last_ = whose->first;
    return take_one(whose, 0);
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  void clear() {
    known_.clear();
    strangers_.clear();
    size_ = 0;
  }

 private:
  using queue = std::deque<Peer>;
  using strangers = std::map<network, queue>;

  Peer take(queue& from, std::size_t which) {
    const auto at = std::next(from.begin(), static_cast<std::ptrdiff_t>(which));
    Peer out = std::move(*at);
    from.erase(at);
    --size_;
    return out;
  }
  Peer take_one(typename strangers::iterator of, std::size_t which) {
    Peer out = take(of->second, which);
    if (of->second.empty()) strangers_.erase(of);
    return out;
  }
  template <class Draw>
  Peer drop(Draw& draw) {
    if (strangers_.empty()) return take(known_, draw(known_.size()));
    auto largest = strangers_.begin();
    for (auto at = strangers_.begin(); at != strangers_.end(); ++at) {
      if (at->second.size() > largest->second.size()) largest = at;
    }
    return take_one(largest, draw(largest->second.size()));
  }

  std::size_t most_of_network_, size_ = 0;
  queue known_;
  strangers strangers_;
  network last_{};  // the network that had its turn last
  std::uint64_t turn_ = 0;
};

}  // namespace binnacle::ingest
