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

/// Which connection begins its handshake next. Three times of four it is one from an address that an agent
/// was welcomed from. The others (strangers) take turns, one network after the other, so that each network
/// has the same share however many connections it sends. Pure.
template <class Peer>
class waiting_line {
 public:
  explicit waiting_line(std::size_t most) : most_(most) {}

  /// Returns the one that must go if the line is full: one of the strangers' network that has most in line,
  /// or without strangers one of the known. `draw(n)` names which of n.
  template <class Draw>
  std::optional<Peer> join(const network& from, bool known, Peer who, Draw draw) {
    std::optional<Peer> lost;
    if (size_ >= most_) lost = drop(draw);
    (known ? known_ : strangers_[from]).push_back(std::move(who));
    ++size_;
    return lost;
  }

  /// Takes out the next. The line must not be empty.
  Peer next() {
    const bool is_strangers_turn = known_.empty() || (!strangers_.empty() && turn_++ % 4 == 3);
    --size_;
    if (!is_strangers_turn) return take(known_, 0);
    auto whose = strangers_.upper_bound(last_);
    if (whose == strangers_.end()) whose = strangers_.begin();
    last_ = whose->first;
    Peer out = take(whose->second, 0);
    if (whose->second.empty()) strangers_.erase(whose);
    return out;
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

  static Peer take(queue& from, std::size_t which) {
    const auto at = std::next(from.begin(), static_cast<std::ptrdiff_t>(which));
    Peer out = std::move(*at);
    from.erase(at);
    return out;
  }
  template <class Draw>
  Peer drop(Draw& draw) {
    --size_;
    if (strangers_.empty()) return take(known_, draw(known_.size()));
    auto largest = strangers_.begin();
    for (auto at = strangers_.begin(); at != strangers_.end(); ++at) {
      if (at->second.size() > largest->second.size()) largest = at;
    }
    Peer out = take(largest->second, draw(largest->second.size()));
    if (largest->second.empty()) strangers_.erase(largest);
    return out;
  }

  std::size_t most_, size_ = 0;
  queue known_;
  std::map<network, queue> strangers_;
  network last_{};  // the one that had its turn
  std::uint64_t turn_ = 0;
};

}  // namespace binnacle::ingest
