#include "aggregator/kube/times.hpp"

#include "common/clock.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>

namespace binnacle::kube {

std::string micro_time(std::chrono::system_clock::time_point t) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
  const std::time_t seconds = micros / 1'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, micros % 1'000'000);
}

std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text) {
  std::tm t{};
  int used = 0;
  const std::string copy(text.substr(0, 64));
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2d%*1[Tt]%2d:%2d:%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday,
                  &t.tm_hour, &t.tm_min, &t.tm_sec, &used) != 6 ||
      used != 19)
    return std::nullopt;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  std::string_view rest = std::string_view(copy).substr(19);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const auto digits = rest.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(digits);
  }
  int sign = 0, hours = 0, minutes = 0;
  if (rest != "Z" && rest != "z") {
    int all = 0;
    const std::string offset(rest);
    if (offset.size() != 6 || std::sscanf(offset.c_str() + 1, "%2d:%2d%n", &hours, &minutes, &all) != 2 ||
        all != 5)
      return std::nullopt;
    sign = offset[0] == '+' ? 1 : offset[0] == '-' ? -1 : 0;
    if (sign == 0) return std::nullopt;
  }
  const bool possible = t.tm_mon >= 0 && t.tm_mon < 12 && t.tm_mday >= 1 && t.tm_mday <= 31 &&
                        t.tm_hour >= 0 && t.tm_hour < 24 && t.tm_min >= 0 && t.tm_min < 60 && t.tm_sec >= 0 &&
                        t.tm_sec <= 60;
  if (!possible) return std::nullopt;
  return wall_at(timegm(&t) - sign * (hours * 3600L + minutes * 60L));
}

}  // namespace binnacle::kube
