#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle::cli {

/// Lets the functions below know the widths of characters: takes the locale of the user, or C.UTF-8 if that
/// one has another encoding. Without it they know ASCII alone. Call it once, before other threads start.
void know_characters() noexcept;

/// Text from outside as a terminal may show it, so that columns_of() is what it takes there. Besides what
/// printable() replaces, a '?' stands for each mark without a letter, for each character whose width the
/// system does not know or terminals do not agree on (parts of flags, tones of skin), and for each byte that
/// is not UTF-8. A letter keeps four marks.
std::string for_terminal(std::string_view text);

/// How many columns of a terminal the text takes: two for a wide character, none for a mark on a letter.
std::size_t columns_of(std::string_view text) noexcept;

/// At most `most` columns of it, the last one "…" if something was cut. A letter keeps its marks.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace binnacle::cli
