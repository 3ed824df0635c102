#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::cli {

/// A number with its unit as people read it: (71.4, "watts") "71.4 W", (0.342, "ratio") "34.2 %",
/// (8589934592, "bytes") "8.0 GiB", (61.5, "celsius") "61.5 °C", (3, "") "3".
std::string with_unit(double value, std::string_view unit);

/// "180ms", "1.3s", "4m10s".
std::string age(std::int64_t milliseconds);

/// Why there is no value, in words: the server's reason with blanks instead of underscores; "link down" for
/// "disconnected".
std::string reason_words(std::string_view reason);

/// "1 node", "3 nodes".
std::string counted(std::int64_t n, std::string_view noun);

}  // namespace binnacle::cli
