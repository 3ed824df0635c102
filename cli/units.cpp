#include "cli/units.hpp"

#include "common/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace binnacle::cli {
namespace {

/// As many digits as a person takes in at a glance.
std::string plain(double value) {
  const double size = std::abs(value);
  if (value == std::floor(value) && size < 1e15) return fmt::format("{:.0f}", value);
  return size < 1 ? fmt::format("{:.3f}", value) : fmt::format("{:.1f}", value);
}

std::string scaled(double value, double step, const char* const (&names)[5], std::string_view unit) {
  std::size_t i = 0;
  while (i < 4 && std::abs(value) >= step) {
    value /= step;
    ++i;
  }
  return i == 0 ? fmt::format("{} {}", plain(value), unit)
                : fmt::format("{:.1f} {}{}", value, names[i], unit);
}

}  // namespace

std::string with_unit(double value, std::string_view unit) {
  if (unit == "watts") return fmt::format("{:.1f} W", value);
  if (unit == "celsius") return fmt::format("{:.1f} °C", value);
  if (unit == "ratio") return fmt::format("{:.1f} %", value * 100);
  if (unit == "bytes") return scaled(value, 1024, {"", "Ki", "Mi", "Gi", "Ti"}, "B");
  if (unit == "joules") return scaled(value, 1000, {"", "k", "M", "G", "T"}, "J");
  if (unit == "hertz") return scaled(value, 1000, {"", "k", "M", "G", "T"}, "Hz");
  if (unit == "seconds") return plain(value) + " s";
  if (unit == "volts") return plain(value) + " V";
  if (unit == "amperes") return plain(value) + " A";
  return plain(value);
}

std::string age(std::int64_t milliseconds) { return human(std::chrono::milliseconds(milliseconds)); }

std::string reason_words(std::string_view reason) {
  if (reason == "disconnected") return "link down";
  std::string words(reason);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string counted(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace binnacle::cli
