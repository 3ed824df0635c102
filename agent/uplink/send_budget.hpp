#pragma once

#include "common/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace binnacle::agent {

/// How much less often series must be sent so that all links together stay below a number of bytes per
/// second. First the series that no policy watches wait for two, four … 64 of their periods. Only if that is
/// not enough do watched series wait, too. Waits become shorter only when a third of the budget would still
/// be to spare, so that periods do not swing. Pure.
class send_budget {
 public:
  static constexpr int most_doublings = 6;
  static constexpr duration first_window = std::chrono::seconds(20);
  static constexpr duration longest_window = std::chrono::minutes(10);

  /// 0 means no bound.
  explicit send_budget(double bytes_per_second = 0) noexcept : limit_(bytes_per_second) {}

  double limit() const noexcept { return limit_; }

  /// Counts the bytes that were sent for watched series and for the others. Catalogs and full batches are
  /// not counted: they come with a new link or another catalog, not all the time.
  void sent(std::size_t watched, std::size_t others) noexcept {
    watched_ += static_cast<double>(watched);
    others_ += static_cast<double>(others);
  }

  /// Looks at the rates when a window is over. A window is long enough to show the effect of the longest
  /// wait. True if a wait has changed. A window in which nothing was sent (no link) changes nothing.
  bool review(instant now) noexcept {
    if (limit_ <= 0) return false;
    if (!since_) since_ = now;
    const duration span = now - *since_;
    if (span < std::min(first_window * (1 << others_wait()), longest_window)) return false;
    const double seconds = std::chrono::duration<double>(span).count();
    // What they would take if nothing waited.
    const double watched = watched_ / seconds * (1 << watched_wait()),
                 others = others_ / seconds * (1 << others_wait());
    const bool silent = watched_ + others_ == 0;
    since_ = now;
    watched_ = others_ = 0;
    if (silent) return false;
    int wanted = least(watched, others, limit_);
    if (wanted < step_) wanted = std::min(step_, least(watched, others, limit_ * 2 / 3));
    return std::exchange(step_, wanted) != wanted;
  }

  /// How often the periods are doubled: of watched series, and of the others.
  int watched_wait() const noexcept { return std::max(step_ - most_doublings, 0); }
  int others_wait() const noexcept { return std::min(step_, most_doublings); }

 private:
  static int least(double watched, double others, double limit) noexcept {
    int step = 0;
    const auto rate = [&] {
      return watched / (1 << std::max(step - most_doublings, 0)) +
             others / (1 << std::min(step, most_doublings));
    };
    while (step < 2 * most_doublings && rate() > limit) ++step;
    return step;
  }

  double limit_;
  std::optional<instant> since_;  // begin of the window
  double watched_ = 0, others_ = 0;
  int step_ = 0;  // doublings: first those of the others, then those of watched series
};

/// The bytes that `payload` takes on the wire, with TLS records (22 bytes for each 16 KiB) and headers of TCP
/// and IPv4 (52 bytes for each segment of 1,400). This is an estimate without retransmissions and other MTUs.
constexpr std::size_t on_the_wire(std::size_t payload) noexcept {
  const auto pieces = [](std::size_t n, std::size_t each) { return (n + each - 1) / each; };
  const std::size_t tls = payload + pieces(payload, 16'384) * 22;
  return tls + pieces(tls, 1'400) * 52;
}

}  // namespace binnacle::agent
