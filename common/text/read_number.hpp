#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace binnacle {

/// All of `text` as a number, independent of the locale: for an integer digits of `base` (10 unless given)
/// behind a minus sign if the type has one; for a double also a fraction, an exponent, "inf" and "nan".
/// Nothing for any other text (blanks, '+', "0x", more text behind), and for a number that the type cannot
/// hold.
template <class Number, class... Base>
std::optional<Number> read_number(std::string_view text, Base... base) noexcept {
  static_assert(sizeof...(Base) <= 1);
  Number out{};
  const char* const end = text.data() + text.size();
  const auto [stop, bad] = std::from_chars(text.data(), end, out, base...);
  if (bad != std::errc{} || stop != end) return std::nullopt;
  return out;
}

}  // namespace binnacle
