#pragma once

#include "cli/top/listing.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::cli::top {

/// What the look of a text means. The same is always said in words, too.
enum class ink : unsigned char { plain, dim, strong, pass, frozen, held, missing, violating };

struct cell {
  std::string text;
  ink with = ink::plain;
};

/// The text of one cell. `later_ms` is how long ago the answer came; it is added to ages.
cell cell_of(const node& n, const column& c, std::size_t trend, std::int64_t later_ms);

/// The newest `width` numbers as bars, from the lowest to the highest number seen; '·' stands for a missing
/// number. The full height stands for at least a twentieth of the largest number, so a series that hardly
/// moves looks flat.
std::string sparkline(const trail& t, std::size_t width);

/// `text` for a terminal that shows only ASCII: "°" is left out, a bar becomes one of "_.-~=+*#", "·" a
/// blank, "…" becomes '~', and any other character '?'.
std::string in_ascii(std::string_view text);

}  // namespace binnacle::cli::top
