#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle {

/// Unlike std::isdigit: no locale, and any char is a valid argument.
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// ASCII letters in lower case, all else as it is.
constexpr char lowered(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
std::string lowered(std::string_view text);

/// `text` without blanks and line ends at its ends.
std::string_view trimmed(std::string_view text) noexcept;

/// A whole decimal number with nothing around it but line ends or blanks; nothing for anything else.
std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept;
/// The same with a minus sign allowed.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

/// In double quotes, for a message about a text that may come from anywhere: cut to `most` bytes, never
/// inside a character, with a '?' for each byte that is no UTF-8 and each character that a terminal obeys
/// (utf8.hpp).
std::string in_quotes(std::string_view text, std::size_t most = 60);

/// "10.0.0.7:9103", "[fe80::1]:9103"; "*:9103" for an empty host, which is every address.
std::string host_and_port(std::string_view host, std::uint16_t port);

/// Insertions, deletions and replacements that make one word of the other (Levenshtein). Costs a.size() times
/// b.size(): bound them.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace binnacle
