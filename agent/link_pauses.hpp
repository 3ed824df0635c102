#pragma once

#include "common/backoff.hpp"
#include "common/clock.hpp"

#include <optional>

namespace binnacle::agent {

/// How long a link stays away from an address after its session ended or none came about. A session that
/// ended soon after its welcome was refused something (a catalogue, say) and would be refused it again at
/// once: it counts as one that failed. Pure.
class link_pauses {
 public:
  static constexpr duration settled = std::chrono::seconds(10);

  void welcomed(instant now) noexcept { welcomed_at_ = now; }
  /// The session, if there was one, is over at `now`. True if it was a good one, from which everything begins
  /// anew.
  bool ended(instant now) noexcept {
    const bool good = welcomed_at_ && now - *welcomed_at_ >= settled;
    welcomed_at_.reset();
    if (good) backoff_.reset();
    return good;
  }
  /// The pause before the next attempt; not less than `at_least`, which the peer asked for.
  template <class Random>
  duration next(Random& random, duration at_least) {
    return backoff_.next(random, at_least);
  }

 private:
  backoff backoff_{backoff::settings{}};
  std::optional<instant> welcomed_at_;
};

}  // namespace binnacle::agent
