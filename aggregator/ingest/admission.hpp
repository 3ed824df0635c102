#pragma once

#include "common/clock.hpp"
#include "common/crowd.hpp"
#include "common/wire/reason.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

namespace binnacle::ingest {

/// How many handshakes may begin now: a bucket that fills at `per_second` and holds a twentieth of a second's
/// worth, so that the loop is never busy with handshakes for long at a stretch. Pure.
class handshake_budget {
 public:
  handshake_budget(std::size_t per_second, instant now) noexcept
      : cost_ns_(1'000'000'000 / static_cast<std::int64_t>(per_second == 0 ? 1 : per_second)),
        free_at_(now) {}

  /// True when one may begin now; it is counted then.
  bool take(instant now) noexcept {
    const duration burst(1'000'000'000 / 20);
    if (free_at_ < now - burst) free_at_ = now - burst;
    if (free_at_ > now) return false;
    free_at_ += duration(cost_ns_);
    return true;
  }
  /// When the next one may begin.
  instant next() const noexcept { return free_at_; }

 private:
  std::int64_t cost_ns_;
  instant free_at_;
};

/// How many tokens of an address may be asked about: each question is a call of the API server, and anybody
/// may send a hello with a token. A token that is good costs nothing; others cost their address one of
/// `most`, which it has again after a while. Pure.
class token_ration {
 public:
  static constexpr int most = 32;
  static constexpr duration each = std::chrono::seconds(2);  // until a lost one may be tried again
  static constexpr std::size_t most_addresses = 4096;

  /// False: not now.
  bool take(const network& address, instant now) {
    if (owing_.size() >= most_addresses) forget(now);
    if (owing_.size() >= most_addresses && !owing_.contains(address)) return false;
    instant& paid_at = owing_.try_emplace(address, now).first->second;
    paid_at = std::max(paid_at, now);
    if (paid_at + each > now + most * each) return false;
    paid_at += each;
    return true;
  }
  /// The token was good.
  void give_back(const network& address) {
    if (const auto at = owing_.find(address); at != owing_.end()) at->second -= each;
  }

 private:
  void forget(instant now) {
    std::erase_if(owing_, [now](const auto& one) { return one.second <= now; });
  }
  std::map<network, instant> owing_;  // when all of it will have been paid back
};

/// How soon an agent may go on after a catalogue: one a second, five at once. An agent announces a new one
/// when its sources' series change; thousands of series cost the loop milliseconds. Pure.
class catalog_pace {
 public:
  /// A catalogue came. When what follows it may be looked at: now or earlier, or up to a second later.
  instant took(instant now) noexcept {
    constexpr duration each = std::chrono::seconds(1);
    free_at_ = std::max(free_at_, now - 5 * each) + each;
    return free_at_;
  }

 private:
  instant free_at_{};
};

/// Tells when a node's sessions replace one another too often: two agents with one identity, or one that
/// cannot keep its link. Who finds that two machines claim the node says so; it is contested then, until
/// nobody has come to take it for a while. Pure.
class swap_watch {
 public:
  static constexpr int many = 3;
  static constexpr duration remembered = std::chrono::minutes(5);

  /// A session was replaced. True at the third within a minute, then not again before the minute is over.
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

/// Tells when the sessions of one node end for one reason again and again. Pure.
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
  /// Why the last ones ended, if they were that many; null otherwise, and five minutes after the last.
  const wire::fault* again(instant now) const noexcept {
    return count_ >= many && now < until_ ? &why_ : nullptr;
  }

 private:
  wire::fault why_;
  instant until_{};
  int count_ = 0;
};

}  // namespace binnacle::ingest
