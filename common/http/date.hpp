#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace binnacle::http {

/// Reads the date of a header, "Sun, 06 Nov 1994 08:49:37 GMT". Nothing for other texts, for the two obsolete
/// forms of the standard and for times before 1970. Does not depend on the locale. Source: RFC 9110, 5.6.7,
/// IMF-fixdate.
std::optional<std::chrono::system_clock::time_point> parse_date(std::string_view text);

}  // namespace binnacle::http
