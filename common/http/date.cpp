#include "common/http/date.hpp"

#include "common/clock.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace binnacle::http {
namespace {

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

constexpr int last_year = 2261;  // the clock's nanoseconds end in 2262

/// The number in the `size` digits at `at`; −1 if there is another character, or if the number is above
/// `most`.
int digits(std::string_view text, std::size_t at, std::size_t size, int most) {
  int out = 0;
  for (const char c : text.substr(at, size)) {
    if (c < '0' || c > '9') return -1;
    out = 10 * out + (c - '0');
  }
  return out <= most ? out : -1;
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> parse_date(std::string_view text) {
  // Every field has a fixed position.
  constexpr std::string_view form = "DDD, dd MMM yyyy hh:mm:ss GMT";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (std::string_view(", :").find(form[i]) != std::string_view::npos && text[i] != form[i])
      return std::nullopt;
  }
  const auto month = std::ranges::find(months, text.substr(8, 3));
  std::tm t{};
  t.tm_mday = digits(text, 5, 2, 31);
  t.tm_mon = static_cast<int>(month - months.begin());
  t.tm_year = digits(text, 12, 4, last_year) - 1900;
  t.tm_hour = digits(text, 17, 2, 23);
  t.tm_min = digits(text, 20, 2, 59);
  t.tm_sec = digits(text, 23, 2, 60);
  const bool numbers = t.tm_mday > 0 && t.tm_year >= 70 && t.tm_hour >= 0 && t.tm_min >= 0 && t.tm_sec >= 0;
  if (!numbers || month == months.end() || text.substr(26) != "GMT" ||
      std::ranges::find(days, text.substr(0, 3)) == days.end())
    return std::nullopt;
  return wall_at(timegm(&t));
}

}  // namespace binnacle::http
