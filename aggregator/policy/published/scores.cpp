#include "aggregator/policy/published/scores.hpp"

#include "aggregator/predict/believable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace binnacle::policy {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

constexpr auto powers_of_ten = [] {
  std::array<double, 37> p{};
  // Exact up to 10^22; beyond that the double next to it, which scores can bear.
  double value = 1;
  for (double& each : p) {
    each = value;
    value *= 10;
  }
  return p;
}();

/// How good each candidate is (larger is better) and the largest magnitude, in units of the finest exponent
/// among them, so that everyday values are whole doubles and the arithmetic below is exact. NaN: no value.
struct goodness {
  std::vector<double> of;
  double best = -std::numeric_limits<double>::infinity();
  double worst = std::numeric_limits<double>::infinity();
  double largest_magnitude = 0;
  int finest = 18;  // exponent of the unit
  std::vector<std::uint32_t> implausible;
};

double in_units(const decimal& v, int finest) {
  return static_cast<double>(v.mantissa) * powers_of_ten[static_cast<std::size_t>(v.exponent - finest)];
}

double bound_in_units(double bound, int finest) {
  return finest <= 0 ? bound * powers_of_ten[static_cast<std::size_t>(-finest)]
                     : bound / powers_of_ten[static_cast<std::size_t>(finest)];
}

/// How good a value is, as a number of which a larger one is better.
double goodness_of(direction wanted, double value, double target) {
  switch (wanted) {
    case direction::larger: return value;
    case direction::smaller: return -value;
    case direction::at_target: break;
  }
  return -std::abs(value - target);
}

goodness weigh(std::span<const std::optional<decimal>> values, const preference& better) {
  int finest = 18;
  for (const auto& v : values) {
    if (v) finest = std::min<int>(finest, v->exponent);
  }
  const int shift = -9 - finest;  // a quantity counts 10^-9
  const double target =
      shift >= 0 ? static_cast<double>(better.target.nano) * powers_of_ten[static_cast<std::size_t>(shift)]
                 : static_cast<double>(better.target.nano) / powers_of_ten[static_cast<std::size_t>(-shift)];
  const direction wanted = towards(better.op);
  const auto least = bound_in_units(better.plausible.least, finest);
  const auto most = bound_in_units(better.plausible.most, finest);
  goodness out{.of = std::vector<double>(values.size(), none), .finest = finest};
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    const double v = in_units(*values[i], finest);
    if (v < least || v > most) {
      out.implausible.push_back(i);
      continue;
    }
    const double g = goodness_of(wanted, v, target);
    out.of[i] = g;
    out.best = std::max(out.best, g);
    out.worst = std::min(out.worst, g);
    out.largest_magnitude = std::max(out.largest_magnitude, std::abs(v));
  }
  return out;
}

/// How uncertain a value must be for the true one to be worse.
store::certainty may_hide_worse(direction wanted) {
  switch (wanted) {
    case direction::smaller: return store::certainty::at_least;
    case direction::larger: return store::certainty::at_most;
    case direction::at_target: break;
  }
  return store::certainty::unsure;
}

}  // namespace

bool could_be_worse(comparison op, store::certainty sure) noexcept {
  return (sure & may_hide_worse(towards(op))) != store::certainty::exact;
}

out_of_line score_by_value(std::span<const std::optional<decimal>> values, const preference& better,
                           std::span<std::uint8_t> scores) {
  goodness good = weigh(values, better);
  out_of_line out{std::move(good.implausible), {}, {}};
  const predict::believable_range ends = predict::believable(
      good.of, good.worst, good.best, bound_in_units(better.plausible.apart, good.finest));
  if (good.best > ends.high || good.worst < ends.low) {
    good.best = std::min(good.best, ends.high);
    good.worst = std::max(good.worst, ends.low);
    good.largest_magnitude = 0;
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      double& g = good.of[i];
      if (std::isnan(g)) continue;
      if (g > good.best || g < good.worst) {
        out.beyond.push_back(i);
        if (g > ends.high + ends.alarm || g < ends.low - ends.alarm) out.suspicious.push_back(i);
        g = std::clamp(g, good.worst, good.best);
      } else {
        good.largest_magnitude =
            std::max(good.largest_magnitude, std::abs(in_units(*values[i], good.finest)));
      }
    }
  }
  // Both sides times 20: the floor of 5 % is then a whole number too.
  const double spread = std::max(20 * (good.best - good.worst), good.largest_magnitude);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double g = good.of[i];
    if (std::isnan(g)) {
      scores[i] = 0;
      continue;
    }
    const double below_best = spread > 0 ? 20.0 * top_score * (good.best - g) / spread : 0.0;
    // Never below zero, so cutting off is rounding down; std::floor is a call on x86-64 without SSE 4.1.
    scores[i] = static_cast<std::uint8_t>(top_score - below_best + 0.5);
  }
  return out;
}

out_of_line score_by_rank(std::span<const std::optional<decimal>> values,
                          std::span<const std::string_view> names, const preference& better,
                          std::span<std::uint8_t> scores) {
  goodness good = weigh(values, better);
  std::vector<std::uint32_t> order;
  order.reserve(values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    scores[i] = 0;
    if (!std::isnan(good.of[i])) order.push_back(i);
  }
  // Only the first ten score; the rest need no order.
  const auto ahead = [&](std::uint32_t a, std::uint32_t b) {
    return good.of[a] != good.of[b] ? good.of[a] > good.of[b] : names[a] < names[b];
  };
  const auto last =
      order.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(order.size(), top_score));
  std::partial_sort(order.begin(), last, order.end(), ahead);
  for (auto at = order.begin(); at != last; ++at) {
    scores[*at] = static_cast<std::uint8_t>(top_score - (at - order.begin()));
  }
  return {std::move(good.implausible), {}, {}};
}

}  // namespace binnacle::policy
