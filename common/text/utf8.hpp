#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle {

/// Bytes of the well-formed character at the front of `text`, which is not empty; 0 if there is none.
/// Overlong forms, surrogates and values above U+10FFFF are none. Source: RFC 3629, section 4.
std::size_t utf8_length(std::string_view text) noexcept;

/// Where the first byte lies that begins no well-formed UTF-8 character; npos if all is well.
std::size_t find_invalid_utf8(std::string_view text) noexcept;

/// `text` cut to at most `limit` bytes, never inside a character (a text that is no UTF-8: before its last
/// bytes that continue one).
std::string_view clip(std::string_view text, std::size_t limit) noexcept;

/// `text` with a '?' for each character that a person would not see but a terminal obeys: control characters
/// (C0, DEL, C1), those that turn the direction of what follows, those of no width. UTF-8 stays UTF-8.
std::string printable(std::string_view text);

/// `text` with a '?' for each byte that begins no well-formed character.
std::string clean_utf8(std::string_view text);

}  // namespace binnacle
