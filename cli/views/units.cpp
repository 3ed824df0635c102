#include "cli/views/units.hpp"

#include "common/clock.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace binnacle::cli {
namespace {

/// At most three digits after the point for numbers below 1, else one: enough for a quick look.
std::string short_number(double value) { return plain(value, std::abs(value) < 1 ? 3 : 1); }

std::string scaled(double value, double step, const char* const (&names)[5], std::string_view unit) {
  std::size_t i = 0;
  while (i < 4 && std::abs(value) >= step) {
    value /= step;
    ++i;
  }
  return fmt::format("{} {}{}", i == 0 ? short_number(value) : plain(value, 1), names[i], unit);
}

}  // namespace

std::string with_unit(double value, std::string_view unit) {
  if (unit == "watts") return plain(value, 1) + " W";
  if (unit == "celsius") return plain(value, 1) + " °C";
  if (unit == "ratio") return plain(value * 100, 1) + " %";
  if (unit == "bytes") return scaled(value, 1024, {"", "Ki", "Mi", "Gi", "Ti"}, "B");
  if (unit == "joules") return scaled(value, 1000, {"", "k", "M", "G", "T"}, "J");
  if (unit == "hertz") return scaled(value, 1000, {"", "k", "M", "G", "T"}, "Hz");
  if (unit == "seconds") return short_number(value) + " s";
  if (unit == "volts") return short_number(value) + " V";
  if (unit == "amperes") return short_number(value) + " A";
  return short_number(value);
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
