#include "aggregator/store/window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace binnacle::store {

namespace {

using exact::wide;

// Limits of what load() accepts. Windows never keep twice their capacity of points; the totals are kept far
// from where their sums and differences would overflow.
constexpr std::int64_t most_kept = 2 * std::max(mean_window::capacity, point_window::capacity);
constexpr std::int64_t longest_us = std::int64_t{1} << 52;
constexpr std::int64_t most_high = std::int64_t{1} << 56;

/// part / whole of `total`, for the share of an interval that lies inside the window.
wide share(wide total, std::int64_t part, std::int64_t whole) noexcept {
  if (const auto product = exact::multiply(total, part)) return exact::divide(*product, whole);
  return total / whole * part;
}

}  // namespace

std::int8_t window_exponent(statistic stat, std::int8_t exponent) noexcept {
  const int finer = stat == statistic::trend                              ? 3
                    : stat == statistic::avg || stat == statistic::stddev ? 1
                                                                          : 0;
  return static_cast<std::int8_t>(std::max(exponent - finer, -18));
}

const std::size_t mean_window::bytes_of_point = sizeof(mean_window::point);
const std::size_t point_window::bytes_of_point = sizeof(point_window::point);

window_cost cost_of_window(statistic stat, duration length, duration between_reads) noexcept {
  constexpr std::size_t state = 400;  // warehouse::window_state, with what the allocator adds
  constexpr std::int64_t spare = 10;  // points<>: those that are dropped late, and one at each end
  const bool mean = stat == statistic::avg;
  const std::int64_t most = mean ? mean_window::capacity : point_window::capacity;
  const std::int64_t reads = length / std::max(between_reads, duration(1));
  const auto points = static_cast<std::size_t>(std::min(reads, most));
  const std::size_t each = mean ? mean_window::bytes_of_point : point_window::bytes_of_point;
  return {state + (points + spare) * each, mean ? 1 : std::max<std::size_t>(points, 1)};
}

mean_window::mean_window(duration length, std::int8_t exponent, std::int8_t counter_exponent) noexcept
    : length_us_(std::max<std::int64_t>(length / std::chrono::microseconds(1), 1)),
      exponent_(exponent),
      counter_exponent_(counter_exponent) {}

bool mean_window::add(instant at, std::int64_t mantissa, std::optional<std::int64_t> counter, bool hole) {
  point p{to_us(at), 0, 0, 0, 0};
  bool known = !hole;
  if (!points_.empty()) {
    const std::int64_t now_us = p.at_us;
    p = points_.back();
    if (!hole) {
      p.covered_us += now_us - p.at_us;
      p.area += wide{mantissa} * (now_us - p.at_us);
    }
    std::int64_t rise = 0, counted = 0;
    if (counter && counter_ && !__builtin_sub_overflow(*counter, *counter_, &rise) && rise >= 0 &&
        !__builtin_add_overflow(p.counted, rise, &counted)) {
      p.counted = counted;
      p.counted_us += now_us - counter_at_us_;
      known = true;
    }
    p.at_us = now_us;
  }
  if (counter) {
    counter_ = counter;
    counter_at_us_ = p.at_us;
  }
  value_ = mantissa;

  const std::size_t n = points_.size();
  if (n >= 2 && points_[n - 1].at_us - points_[n - 2].at_us < length_us_ / capacity) {
    points_.back() = p;
  } else {
    points_.push_back(p);
  }
  // One point at or before the beginning stays: what lies between it and the next is inside in part.
  while (points_.size() >= 2 && points_[1].at_us <= p.at_us - length_us_) points_.pop_front();
  return known;
}

std::optional<decimal> mean_window::mean() const noexcept {
  if (points_.empty()) return std::nullopt;
  const point& last = points_.back();
  point first = points_[0];
  const std::int64_t begin_us = last.at_us - length_us_;
  if (points_.size() >= 2 && first.at_us < begin_us) {
    const point& next = points_[1];
    const std::int64_t part = begin_us - first.at_us, whole = next.at_us - first.at_us;
    first.area += share(next.area - first.area, part, whole);
    first.covered_us += static_cast<std::int64_t>(share(next.covered_us - first.covered_us, part, whole));
    first.counted += static_cast<std::int64_t>(share(next.counted - first.counted, part, whole));
    first.counted_us += static_cast<std::int64_t>(share(next.counted_us - first.counted_us, part, whole));
  }
  const std::int8_t exponent = window_exponent(statistic::avg, exponent_);
  const std::int64_t covered = last.covered_us - first.covered_us,
                     counted = last.counted_us - first.counted_us;
  // One step of the counter over this span must not be more than one step of the value.
  const auto needed = exact::power_of_ten(std::max(counter_exponent_ - exponent_, 0) + 6);
  std::optional<std::int64_t> mantissa;
  if (counted > 0 && counted >= covered && needed && counted >= *needed) {
    mantissa = exact::ratio(wide{last.counted - first.counted}, counter_exponent_ - exponent + 6, counted);
  } else if (covered > 0) {
    mantissa = exact::ratio(last.area - first.area, exponent_ - exponent, covered);
  } else {
    mantissa = exact::ratio(value_, exponent_ - exponent, 1);
  }
  if (!mantissa) return std::nullopt;
  return decimal{*mantissa, exponent};
}

void mean_window::save(words& into) const {
  into.insert(into.end(), {value_, static_cast<std::int64_t>(points_.size())});
  for (const point& p : points_) {
    into.insert(into.end(), {p.at_us, p.covered_us, static_cast<std::int64_t>(p.area >> 64),
                             static_cast<std::int64_t>(p.area), p.counted_us, p.counted});
  }
}

void mean_window::load(word_reader& from) {
  clear();
  counter_.reset();
  value_ = from.next();
  std::optional<point> before;
  for (std::int64_t n = from.next(0, most_kept); n > 0 && from.ok(); --n) {
    point p{};
    p.at_us = from.time_us();
    p.covered_us = from.next(0, longest_us);
    const wide high = from.next(-most_high, most_high);
    p.area = high << 64 | static_cast<std::uint64_t>(from.next());
    p.counted_us = from.next(0, longest_us);
    p.counted = from.next(0, std::numeric_limits<std::int64_t>::max());
    if (before && (p.at_us <= before->at_us || p.covered_us < before->covered_us ||
                   p.counted_us < before->counted_us || p.counted < before->counted))
      from.fail();
    points_.push_back(p);
    before = p;
  }
  if (!from.ok()) clear();
}

void point_window::save(words& into) const {
  into.push_back(static_cast<std::int64_t>(points_.size()));
  for (const point& p : points_) into.insert(into.end(), {p.at_us, p.mantissa});
}

void point_window::load(word_reader& from) {
  clear();
  for (std::int64_t n = from.next(0, most_kept); n > 0 && from.ok(); --n) {
    const point p{from.time_us(), from.next()};
    if (!empty() && p.at_us <= points_.back().at_us) from.fail();
    points_.push_back(p);
  }
  if (!from.ok()) clear();
}

point_window::point_window(duration length, statistic stat, std::int8_t exponent) noexcept
    : length_us_(std::max<std::int64_t>(length / std::chrono::microseconds(1), 1)),
      stat_(stat),
      exponent_(exponent) {}

void point_window::add(instant at, std::int64_t mantissa) {
  point p{to_us(at), mantissa};
  const std::size_t n = points_.size();
  if (n >= 2 && points_[n - 1].at_us - points_[n - 2].at_us < length_us_ / capacity) {
    // Merging two close points must not lose an extreme. For the other statistics the later point is enough.
    if (stat_ == statistic::max) p.mantissa = std::max(p.mantissa, points_.back().mantissa);
    if (stat_ == statistic::min) p.mantissa = std::min(p.mantissa, points_.back().mantissa);
    points_.back() = p;
  } else {
    points_.push_back(p);
  }
  while (points_[0].at_us <= p.at_us - length_us_) points_.pop_front();
}

std::optional<decimal> point_window::value() const {
  if (points_.empty()) return std::nullopt;
  const auto by_value = [](const point& a, const point& b) { return a.mantissa < b.mantissa; };
  switch (stat_) {
    case statistic::max:
      return decimal{std::max_element(points_.begin(), points_.end(), by_value)->mantissa, exponent_};
    case statistic::min:
      return decimal{std::min_element(points_.begin(), points_.end(), by_value)->mantissa, exponent_};
    case statistic::p95: return p95();
    case statistic::stddev: return stddev();
    case statistic::trend: return trend();
    case statistic::avg: break;  // mean_window does this
  }
  return std::nullopt;
}

std::optional<decimal> point_window::p95() const {
  std::vector<std::int64_t> values;
  values.reserve(points_.size());
  for (const point& p : points_) values.push_back(p.mantissa);
  const std::size_t rank = (values.size() * 95 + 99) / 100;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end());
  return decimal{*at, exponent_};
}

std::optional<decimal> point_window::stddev() const noexcept {
  const auto n = static_cast<wide>(points_.size());
  if (n < 2) return std::nullopt;
  // Differences from the first value, so that the squares of large, nearly equal mantissas stay small.
  const wide base = points_[0].mantissa;
  long double sum = 0, squares = 0;
  wide exact_sum = 0, exact_squares = 0;
  bool fits = true;
  for (const point& p : points_) {
    const wide d = p.mantissa - base;
    exact_sum += d;
    fits = fits && d < (wide{1} << 55) && d > -(wide{1} << 55);
    if (fits) exact_squares += d * d;
    sum += static_cast<long double>(d);
    squares += static_cast<long double>(d) * static_cast<long double>(d);
  }
  const auto count = static_cast<long double>(n);
  const long double variance =
      fits ? static_cast<long double>(n * exact_squares - exact_sum * exact_sum) / (count * count)
           : squares / count - sum / count * (sum / count);
  const std::int8_t exponent = window_exponent(statistic::stddev, exponent_);
  const long double scaled =
      std::sqrt(std::max(variance, 0.0L)) * std::pow(10.0L, static_cast<long double>(exponent_ - exponent));
  if (!(scaled < 9.2e18L)) return std::nullopt;
  return decimal{std::llrint(scaled), exponent};
}

std::optional<decimal> point_window::trend() const noexcept {
  const auto n = static_cast<wide>(points_.size());
  if (n < 2) return std::nullopt;
  const std::int64_t last_us = points_.back().at_us;
  const wide base = points_.back().mantissa;
  wide t = 0, v = 0, tt = 0, tv = 0;
  for (const point& p : points_) {
    const wide dt = p.at_us - last_us, dv = p.mantissa - base;
    t += dt;
    v += dv;
    tt += dt * dt;
    const auto product = exact::multiply(dt, dv);
    if (!product || __builtin_add_overflow(tv, *product, &tv)) return std::nullopt;
  }
  const std::int8_t exponent = window_exponent(statistic::trend, exponent_);
  const auto a = exact::multiply(n, tv), b = exact::multiply(t, v);
  wide numerator = 0;
  if (!a || !b || __builtin_sub_overflow(*a, *b, &numerator)) return std::nullopt;
  const wide denominator = n * tt - t * t;
  if (denominator <= 0) return std::nullopt;  // all points of one instant have no slope
  const auto mantissa = exact::ratio(numerator, exponent_ - exponent + 6, denominator);
  if (!mantissa) return std::nullopt;
  return decimal{*mantissa, exponent};
}

}  // namespace binnacle::store
