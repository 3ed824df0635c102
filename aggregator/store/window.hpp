#pragma once

#include "aggregator/store/exact.hpp"
#include "aggregator/store/types.hpp"
#include "aggregator/store/words.hpp"
#include "common/clock.hpp"
#include "common/decimal.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

/// Statistics over the last `length` of a column at one node (a rule's `window` and `statistic`).
/// Pure; memory is bounded by thinning: points closer together than a fixed share of the window are merged,
/// so a long window costs no more than a short one.
///
/// A window that is not full yet gives the statistic of the points that it has. Missing time is skipped, not
/// guessed; coverage.hpp says how much is missing. The caller decides whether the newest point is still
/// fresh.
namespace binnacle::store {

/// Points of a window in order of time, the oldest dropped from the front.
template <class Point>
class points {
 public:
  std::size_t size() const noexcept { return all_.size() - first_; }
  bool empty() const noexcept { return size() == 0; }
  const Point& operator[](std::size_t i) const noexcept { return all_[first_ + i]; }
  Point& back() noexcept { return all_.back(); }
  const Point& back() const noexcept { return all_.back(); }
  const Point* begin() const noexcept { return all_.data() + first_; }
  const Point* end() const noexcept { return all_.data() + all_.size(); }
  void clear() noexcept {
    all_.clear();
    first_ = 0;
  }
  void push_back(const Point& p) {
    // Thousands of windows: growing by doubling would waste a third of their memory.
    if (all_.size() == all_.capacity()) all_.reserve(all_.size() + slack);
    all_.push_back(p);
  }
  void pop_front() {
    // Moving everything forward once in a while costs less than a ring's arithmetic at every look.
    ++first_;
    if (first_ == slack || first_ == all_.size()) {
      all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }

 private:
  static constexpr std::size_t slack = 8;
  std::vector<Point> all_;
  std::size_t first_ = 0;
};

/// The mean over the window. It comes from a counter's difference if there is a counter, and the span is long
/// enough that the counter's resolution is no coarser than the value's. Otherwise it is the mean of the
/// values weighted with time, where a value stands for the time since the read before it, as rates do.
class mean_window {
 public:
  static constexpr std::int64_t capacity = 32;
  static const std::size_t bytes_of_point;

  /// `exponent` of the values, `counter_exponent` of the counters; the counter's difference per second is the
  /// value.
  mean_window(duration length, std::int8_t exponent, std::int8_t counter_exponent) noexcept;

  /// A value read at `at`, later than newest(). `hole`: nothing is known of the time since then, but
  /// the counter goes on through it. A counter that went back started again: that interval counts nowhere.
  /// True if the time since newest() is known, by the value or by the counter.
  bool add(instant at, std::int64_t mantissa, std::optional<std::int64_t> counter, bool hole);
  /// At a resolution ten times as fine as the values'.
  std::optional<decimal> mean() const noexcept;

  /// The next counter is a different one, so its difference to the last one means nothing.
  void change_counter() noexcept { counter_.reset(); }

  bool empty() const noexcept { return points_.empty(); }
  /// The instant of the newest point, in whole microseconds as both windows keep time.
  instant newest() const noexcept { return from_us(points_.back().at_us); }
  std::size_t size() const noexcept { return points_.size(); }
  void clear() noexcept { points_.clear(); }

  /// For a snapshot; words.hpp. The counter stays behind: after a restart it may be another one.
  void save(words& into) const;
  /// Reads what save() of a window with the same length and exponents wrote. With anything else the reader
  /// fails and the window is empty.
  void load(word_reader& from);

 private:
  // Running totals since the window was started. So the difference of any two points is what lies between
  // them, even if points between them were merged.
  struct point {
    std::int64_t at_us;
    std::int64_t covered_us;  // time for which a value stood
    exact::wide area;         // Σ mantissa × µs
    std::int64_t counted_us;  // time over which the counter is known
    std::int64_t counted;     // by how much it rose in that time
  };
  std::int64_t length_us_;
  std::int8_t exponent_, counter_exponent_;
  std::int64_t value_ = 0;  // the newest
  std::optional<std::int64_t> counter_;
  std::int64_t counter_at_us_ = 0;
  points<point> points_;
};

/// max, min, p95, stddev and trend: statistics of the points themselves.
class point_window {
 public:
  static constexpr std::int64_t capacity = 256;
  static const std::size_t bytes_of_point;

  point_window(duration length, statistic stat, std::int8_t exponent) noexcept;

  void add(instant at, std::int64_t mantissa);
  /// max, min: exact, also where points were merged. p95: nearest rank. stddev: of the population, ten times
  /// as fine. trend: slope of the least-squares line per second, a thousand times as fine. The last two need
  /// two points.
  std::optional<decimal> value() const;

  bool empty() const noexcept { return points_.empty(); }
  instant newest() const noexcept { return from_us(points_.back().at_us); }
  std::size_t size() const noexcept { return points_.size(); }
  void clear() noexcept { points_.clear(); }

  /// As in mean_window.
  void save(words& into) const;
  void load(word_reader& from);

 private:
  struct point {
    std::int64_t at_us;
    std::int64_t mantissa;
  };
  std::optional<decimal> p95() const;
  std::optional<decimal> stddev() const noexcept;
  std::optional<decimal> trend() const noexcept;

  std::int64_t length_us_;
  statistic stat_;
  std::int8_t exponent_;
  points<point> points_;
};

/// What a window of one column costs at one node, at most.
struct window_cost {
  std::size_t bytes = 0;
  std::size_t points_looked_at = 0;  ///< for each value that comes
};
/// `between_reads`: how often a value comes.
window_cost cost_of_window(statistic stat, duration length, duration between_reads) noexcept;

/// The exponent of a window's results for values of `exponent`.
std::int8_t window_exponent(statistic stat, std::int8_t exponent) noexcept;

}  // namespace binnacle::store
