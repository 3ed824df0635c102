#pragma once

#include "common/backoff.hpp"
#include "common/clock.hpp"

#include <optional>

namespace binnacle::agent {

/// How long a link waits before it dials an address again, after its session ended or could not be
/// established. A session that ends soon after its welcome counts as a failure, because the aggregator
/// refused something (for example a catalog) and would refuse it again. If one replica is missing while
/// others have links, it is usually being replaced, and the new one becomes ready only when agents connect.
/// So for a minute the link dials more often. Pure.
class link_pauses {
 public:
  static constexpr duration settled = std::chrono::seconds(10);
  static constexpr duration soon_for = std::chrono::minutes(1);

  void welcomed(instant now) noexcept { welcomed_at_ = now; }
  /// The session, if there was one, ended at `now`. True if it had lasted; pauses then begin from the
  /// shortest again.
  bool ended(instant now) noexcept {
    const bool good = welcomed_at_ && now - *welcomed_at_ >= settled;
    welcomed_at_.reset();
    if (good) backoff_.reset();
    if (good) soon_.reset();
    if (good || !missing_since_) missing_since_ = now;
    return good;
  }
  /// The pause before the next attempt; call it after ended(). At least `at_least`, for which the peer asked.
  /// `others`: whether other replicas have a link.
  template <class Random>
  duration next(Random& random, duration at_least, instant now, bool others) {
    const bool soon = others && missing_since_ && now - *missing_since_ < soon_for;
    return (soon ? soon_ : backoff_).next(random, at_least);
  }

 private:
  backoff backoff_{backoff::settings{}};
  backoff soon_{{.cap = std::chrono::seconds(4)}};
  std::optional<instant> welcomed_at_, missing_since_;
};

}  // namespace binnacle::agent
