#include "common/clock.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <time.h>

namespace binnacle {

boot_clock::time_point boot_clock::now() noexcept {
  timespec ts{};
  clock_gettime(CLOCK_BOOTTIME, &ts);
  return time_point(std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec));
}

std::chrono::system_clock::time_point wall_time(instant t) noexcept {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(t - boot_clock::now());
}

std::chrono::system_clock::time_point wall_at(std::time_t seconds) noexcept {
  using wall = std::chrono::system_clock;
  return wall::from_time_t(std::clamp(seconds, std::time_t{0}, wall::to_time_t(wall::time_point::max())));
}

std::string rfc3339(std::chrono::system_clock::time_point t) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(t)));
}

std::string human(duration d) {
  using namespace std::chrono;
  if (d <= duration::zero()) return "0ms";
  if (d < milliseconds(1)) return fmt::format("{}us", duration_cast<microseconds>(d).count());
  if (d < seconds(1)) return fmt::format("{}ms", duration_cast<milliseconds>(d).count());
  if (d < minutes(1)) {
    const auto tenths =
        duration_cast<milliseconds>(d).count() / 100;  // cut, not rounded: 59.96 s is no minute yet
    return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  }
  if (d < hours(1))
    return fmt::format("{}m{}s", duration_cast<minutes>(d).count(), duration_cast<seconds>(d).count() % 60);
  return fmt::format("{}h{}m", duration_cast<hours>(d).count(), duration_cast<minutes>(d).count() % 60);
}

std::string duration_text(duration d) {
  struct unit {
    std::string_view name;
    std::int64_t ns;
  };
  static constexpr std::array<unit, 4> below_minute{
      {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};
  constexpr std::int64_t hour = 3'600'000'000'000, minute = 60'000'000'000;
  std::int64_t ns = d.count();
  if (ns <= 0) return "0s";
  std::string out;
  if (ns >= hour) out += fmt::format("{}h", ns / hour);
  if (ns % hour >= minute) out += fmt::format("{}m", ns % hour / minute);
  ns %= minute;
  if (ns == 0) return out;
  for (const unit& u : below_minute) {
    if (ns < u.ns && u.ns > 1) continue;
    std::string fraction =
        u.ns == 1 ? "" : fmt::format(".{}", u.ns + ns % u.ns).erase(1, 1);  // the 1 in front keeps the zeros
    fraction.erase(fraction.find_last_not_of('0') + 1);
    if (fraction == ".") fraction.clear();
    return out + fmt::format("{}{}{}", ns / u.ns, fraction, u.name);
  }
  return out;
}

bool parse_duration(std::string_view text, duration& out) noexcept {
  struct unit {
    std::string_view name;
    double ns;
  };
  // Two-letter units first: "ms" must not be read as "m" and a stray "s".
  static constexpr std::array<unit, 7> units{
      {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
  constexpr double century_ns = 100.0 * 365.25 * 86400e9;
  if (text == "0") {
    out = duration::zero();
    return true;
  }
  if (text.empty()) return false;
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    if (text.front() == '-' || text.front() == '+') return false;
    auto [end, ec] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (ec != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    bool known = false;
    for (const unit& u : units) {
      if (!text.starts_with(u.name)) continue;
      total += number * u.ns;
      text.remove_prefix(u.name.size());
      known = true;
      break;
    }
    if (!known || !(total <= century_ns)) return false;
  }
  out = duration(std::llround(total));
  return true;
}

}  // namespace binnacle
