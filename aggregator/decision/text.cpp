#include "aggregator/decision/text.hpp"

#include <fmt/format.h>

namespace binnacle::decision {
std::string age_text(duration age) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(age).count();
  if (ms < 0) return "0 ms";
  if (ms < 10'000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  return human(age);
}

std::optional<quantity> difference(decimal value, const quantity& target) noexcept {
  // |mantissa| < 10^19, so 10^18 more (exponent 9) still fits 128 bits, and so does a target of 1.7e38 beside
  // it only if checked.
  const int shift = value.exponent + 9;
  __int128 nano = value.mantissa;
  if (shift > 18) return std::nullopt;
  for (int i = 0; i < shift; ++i) nano *= 10;
  for (int i = shift; i < 0; ++i) nano = (nano + (nano < 0 ? -5 : 5)) / 10;
  quantity d;
  if (__builtin_sub_overflow(nano, target.nano, &d.nano)) return std::nullopt;
  return d;
}

}  // namespace binnacle::decision
