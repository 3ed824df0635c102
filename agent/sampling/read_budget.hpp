#pragma once

#include "common/clock.hpp"

#include <algorithm>

namespace binnacle::agent {

/// How often a source may be read because of interests without using more than a share of one core, by the
/// CPU time of its reads. The period is doubled or halved. It is halved only if the budget would still have a
/// third to spare afterwards, so that the period does not swing. Pure.
class read_budget {
 public:
  /// `share` of one core, in (0, 1].
  explicit read_budget(double share) noexcept : share_(share) {}

  /// A read took that much CPU time.
  void took(duration d) noexcept {
    const auto ns = static_cast<double>(d.count());
    mean_ns_ = mean_ns_ < 0 ? ns : mean_ns_ + (ns - mean_ns_) / weight;
  }

  /// The period at which to read when `asked` is wanted: `asked`, or twice that, four times…, but never
  /// longer than `own`, which the user chose.
  duration allowed(duration asked, duration own) noexcept {
    if (asked >= own) {
      doublings_ = 0;
      return own;
    }
    while (doublings_ > 0 && costs(asked, doublings_ - 1) <= share_ * 2 / 3) --doublings_;
    while (costs(asked, doublings_) > share_ && at(asked, doublings_) < own) ++doublings_;
    return std::min(at(asked, doublings_), own);
  }

 private:
  static constexpr double weight =
      16;  // of the past in the mean, so that one interrupted read decides nothing

  static duration at(duration asked, int doublings) noexcept {
    return asked * (1 << std::min(doublings, 24));
  }
  double costs(duration asked, int doublings) const noexcept {
    return std::max(mean_ns_, 0.0) / static_cast<double>(at(asked, doublings).count());
  }

  double share_;
  double mean_ns_ = -1;  // before the first read
  int doublings_ = 0;
};

}  // namespace binnacle::agent
