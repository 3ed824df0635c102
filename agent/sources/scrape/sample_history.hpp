#pragma once

#include "agent/kernel/counter_rate.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace binnacle::agent {

/// What is kept of one sample of an exporter from reading to reading: its rate, and how old it is. Pure.
///
/// An exporter may stamp a sample with the time at which it was measured, and serve the same one again until
/// there is a newer: the kubelet does so for 10-15 s. Then the rate is that between two measurements, and the
/// age counts from the first reading that had this one. Stamps are compared with each other only, since they
/// are of another clock.
class sample_history {
 public:
  void update(double value, std::optional<std::int64_t> stamp_ms, instant read_at) noexcept {
    const auto stamp = in_range(stamp_ms);
    const auto measured = stamp.value_or(read_at);
    if (stamp != stamp_ || !stamp) changed_at_ = read_at;
    // Another clock than before has no difference to it; nor has one that was set back.
    if (stamp.has_value() != stamp_.has_value() || measured < last_) rate_.restart();
    stamp_ = stamp;
    last_ = measured;
    rate_.update(value, measured);
  }
  const basic_counter_rate<double>& rate() const noexcept { return rate_; }
  /// Of the first reading that had the sample as it is now.
  instant changed_at() const noexcept { return changed_at_; }

 private:
  // A stamp of which no difference could be made is none.
  static std::optional<instant> in_range(std::optional<std::int64_t> ms) noexcept {
    constexpr auto most = duration::max() / std::chrono::milliseconds(1);
    if (!ms || *ms < 0 || *ms > most) return std::nullopt;
    return instant(std::chrono::milliseconds(*ms));
  }

  std::optional<instant> stamp_;
  instant last_{};
  instant changed_at_{};
  basic_counter_rate<double> rate_;
};

}  // namespace binnacle::agent
