#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle {

/// The length in bytes of the well-formed character at the front of `text`, which must not be empty; 0 if
/// there is none. Overlong forms, surrogates and values above U+10FFFF are not well-formed. Source: RFC 3629,
/// section 4.
std::size_t utf8_length(std::string_view text) noexcept;

/// The code point of a well-formed character.
char32_t code_point(std::string_view character) noexcept;

/// Whether it is a character that a person does not see, though a terminal may obey it: control characters
/// (C0, DEL, C1), characters that change the direction of the text or the look of their neighbours, fillers,
/// tags.
bool is_unseen(char32_t c) noexcept;

/// The position of the first byte that does not begin a well-formed UTF-8 character; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text) noexcept;

/// `text` cut to at most `limit` bytes, never inside a character. Of a text that is not UTF-8, the
/// continuation bytes at the cut are dropped, too.
std::string_view clip(std::string_view text, std::size_t limit) noexcept;

/// `text` with a '?' for each character that is_unseen(). Well-formed UTF-8 stays so.
std::string printable(std::string_view text);

/// `text` with a '?' for each byte that does not begin a well-formed character.
std::string clean_utf8(std::string_view text);

}  // namespace binnacle
