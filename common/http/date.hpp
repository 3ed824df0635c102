#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace binnacle::http {

/// The time that a header names, as "Sun, 06 Nov 1994 08:49:37 GMT"; nothing for other text, the two obsolete
/// forms of the standard and times before 1970 among it. The language of this machine plays no part. Source:
/// RFC 9110, 5.6.7, IMF-fixdate.
std::optional<std::chrono::system_clock::time_point> parse_date(std::string_view text);

}  // namespace binnacle::http
