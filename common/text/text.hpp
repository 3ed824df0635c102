#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle {

/// Unlike std::isdigit: no locale, and any char is a valid argument.
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// ASCII letters in lower case, other characters unchanged.
constexpr char lowered(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
std::string lowered(std::string_view text);

/// `text` without blanks and line ends at both ends.
std::string_view trimmed(std::string_view text) noexcept;

/// Whether `part` stands somewhere in `text`.
constexpr bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != text.npos;
}

/// Reads a whole decimal number; only line ends or blanks may surround it. Nothing for any other text.
std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept;
/// The same with a minus sign allowed.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

/// `text` in double quotes, for a message about a text that may come from anywhere. It is cut to `most`
/// bytes, never inside a character. Each byte that is not UTF-8, and each character that controls a terminal,
/// becomes '?' (utf8.hpp).
std::string in_quotes(std::string_view text, std::size_t most = 60);

/// "10.0.0.7:9103", "[fe80::1]:9103"; "*:9103" if the host is empty, which means every address.
std::string host_and_port(std::string_view host, std::uint16_t port);

}  // namespace binnacle
