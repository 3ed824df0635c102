#include "aggregator/predict/believable.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace binnacle::predict {
namespace {

/// Whether more than `few` of `some` lie near either end of the whole range. Then the percentiles are at most
/// 0.3 of the range away from its ends and at least 0.4 of it apart, so nothing is beyond them by as much
/// again. This is the usual case, and costs a tenth of selecting the percentiles.
bool crowded_at_both_ends(const std::vector<double>& some, double least, double most, std::size_t few) {
  const double margin = 0.3 * (most - least);
  const double high = most - margin, low = least + margin;
  std::size_t near_most = 0, near_least = 0;
  for (const double one : some) {
    near_most += one >= high ? 1 : 0;
    near_least += one <= low ? 1 : 0;
  }
  return near_most > few && near_least > few;
}

/// With few figures: how far beyond them an honest one may lie, as a multiple of the largest. The multiple
/// grows with their own spread.
double times_of_few(double low, double high) {
  const double smallest = low * high > 0 ? std::min(std::abs(low), std::abs(high)) : 0;
  const double largest = std::max(std::abs(low), std::abs(high));
  return std::clamp(smallest > 0 ? 2 * largest / smallest : 8.0, 4.0, 8.0);
}

}  // namespace

believable_range believable(std::span<const double> figures, double least, double most, double apart) {
  constexpr std::size_t most_taken = 512, cut = 20;  // a twentieth at either end
  std::vector<double> some;
  some.reserve(most_taken);
  const std::size_t step = (figures.size() + most_taken - 1) / most_taken;
  for (std::size_t i = 0; i < figures.size(); i += step) {
    if (!std::isnan(figures[i])) some.push_back(figures[i]);
  }
  if (some.size() < 3) return {};
  const bool many = some.size() >= least_for_percentiles;
  const std::size_t few = std::max<std::size_t>(1, some.size() / cut);
  if (many && crowded_at_both_ends(some, least, most, few)) return {};
  const auto low = some.begin() + static_cast<std::ptrdiff_t>(few);
  const auto high = some.end() - 1 - static_cast<std::ptrdiff_t>(few);
  std::nth_element(some.begin(), low, some.end());
  if (low != high) std::nth_element(low + 1, high, some.end());
  const double largest = std::max(std::abs(*low), std::abs(*high));
  // If nearly all figures are equal, one that is a little off is no lie: up to 5 % is noise, as it is for the
  // scores.
  const double margin =
      many ? std::max(*high - *low, largest / cut) : std::max(largest * times_of_few(*low, *high), apart);
  if (margin == 0) return {};
  // With few candidates, one that differs may just be the busy node among idle ones: only a figure ten times
  // as far out is suspicious.
  return {*low - margin, *high + margin, many ? 0 : 10 * margin};
}

}  // namespace binnacle::predict
