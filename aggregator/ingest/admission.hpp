#pragma once

#include "common/clock.hpp"
#include "common/wire/reason.hpp"

#include <algorithm>

namespace binnacle::ingest {

/// How often a node may do what costs us much: five times at once, then once a second. Such are a catalog,
/// which an agent announces when its sources' series change, and whose thousands of series cost the loop
/// milliseconds; and another hello in a running session, which asks about its token, and is answered. Pure.
class node_pace {
 public:
  /// Call it when one has come. Returns when the node's next message may be read: at once (now or an
  /// earlier time), or up to a second later.
  instant took(instant now) noexcept {
    constexpr duration each = std::chrono::seconds(1);
    free_at_ = std::max(free_at_, now - 5 * each) + each;
    return free_at_;
  }
  /// What took() returned last.
  instant free_at() const noexcept { return free_at_; }

 private:
  instant free_at_{};
};

/// Tells when a node's sessions replace one another too often: two agents have one identity, or one agent
/// cannot keep its link. A claim that was refused counts as a swap. The caller says when two machines claim
/// the node (claimed()). The node is then contested until no other machine has claimed it for `remembered`.
/// Pure.
class swap_watch {
 public:
  static constexpr int many = 3;
  static constexpr duration remembered = std::chrono::minutes(5);

  /// Call it when a session was replaced. Returns true at the third time within a minute, and not again
  /// before that minute is over.
  bool swapped(instant now) noexcept {
    if (count_ == 0 || now - since_ >= std::chrono::minutes(1)) {
      since_ = now;
      count_ = 0;
    }
    return ++count_ == many;
  }
  /// Another machine claims the node.
  void claimed(instant now) noexcept { contested_until_ = now + remembered; }
  bool contested(instant now) const noexcept { return now < contested_until_; }

 private:
  instant since_{}, contested_until_{};
  int count_ = 0;
};

/// Tells when the sessions of one node end again and again for the same reason. Pure.
class end_watch {
 public:
  static constexpr int many = 3;
  static constexpr duration remembered = std::chrono::minutes(5);

  /// A session that was welcomed has ended.
  void ended(const wire::fault& why, instant now) {
    if (why.why != why_.why || now >= until_) count_ = 0;
    ++count_;
    why_ = why;
    until_ = now + remembered;
  }
  /// Why the last sessions ended, if `many` of them ended for that reason. Null otherwise, and once five
  /// minutes have passed.
  const wire::fault* again(instant now) const noexcept {
    return count_ >= many && now < until_ ? &why_ : nullptr;
  }

 private:
  wire::fault why_;
  instant until_{};
  int count_ = 0;
};

}  // namespace binnacle::ingest
