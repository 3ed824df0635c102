#pragma once

namespace binnacle {

/// Unlike std::isdigit: no locale, and any char is a valid argument.
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace binnacle
