#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace binnacle::metrics {

/// Counts of observations up to fixed upper bounds, for a Prometheus histogram. The caller chooses the unit
/// (microseconds for the extender's latencies, milliseconds for ages). Written by one thread.
template <std::size_t N>
class histogram {
 public:
  /// `bounds` must ascend. An observation that equals a bound counts for that bound (`le`).
  constexpr explicit histogram(std::array<std::int64_t, N> bounds) : bounds_(bounds) {}

  void observe(std::int64_t value) noexcept {
    std::size_t bucket = 0;
    for (const std::int64_t bound : bounds_) bucket += value > bound ? 1 : 0;
    ++counts_[bucket];
    sum_ += value;
  }

  constexpr const std::array<std::int64_t, N>& bounds() const noexcept { return bounds_; }
  /// Observations at or below bounds()[i] (the `_bucket{le=…}` value); i == N: all of them (`_count`).
  std::uint64_t cumulative(std::size_t i) const noexcept {
    std::uint64_t n = 0;
    for (std::size_t k = 0; k <= i; ++k) n += counts_[k];
    return n;
  }
  std::uint64_t count() const noexcept { return cumulative(N); }
  std::int64_t sum() const noexcept { return sum_; }

 private:
  std::array<std::int64_t, N> bounds_;
  std::array<std::uint64_t, N + 1> counts_{};
  std::int64_t sum_ = 0;
};

}  // namespace binnacle::metrics
