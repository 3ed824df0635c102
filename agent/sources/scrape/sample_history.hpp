#pragma once

#include "agent/kernel/counter_rate.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace binnacle::agent {

/// What is kept of one sample of an exporter from reading to reading: its rate and its age. Pure.
///
/// An exporter may give a sample the timestamp of its measurement, and serve the same sample until it has a
/// newer one; the kubelet does so for 10-15 s. The rate is then that between two measurements, and the age
/// counts from the first reading with the present sample. Timestamps are compared only with each other,
/// because another clock made them.
class sample_history {
 public:
  void update(double value, std::optional<std::int64_t> stamp_ms, instant read_at) noexcept {
    const auto stamp = in_range(stamp_ms);
    const auto measured = stamp.value_or(read_at);
    if (stamp != stamp_ || !stamp) changed_at_ = read_at;
    // The rate starts anew if the sample gains or loses its timestamp (then another clock counts), and if its
    // time goes back.
    if (stamp.has_value() != stamp_.has_value() || measured < last_) rate_.restart();
    stamp_ = stamp;
    last_ = measured;
    rate_.update(value, measured);
  }
  const basic_counter_rate<double>& rate() const noexcept { return rate_; }
  /// When the present sample was read for the first time.
  instant changed_at() const noexcept { return changed_at_; }

 private:
  // A timestamp outside this range is ignored: differences of it could not be computed.
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
