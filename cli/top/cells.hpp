#pragma once

#include "cli/top/listing.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::cli::top {

/// What a piece of text says by its looks. It never says it by its looks alone.
enum class ink : unsigned char { plain, dim, strong, pass, frozen, held, missing, violating };

struct cell {
  std::string text;
  ink with = ink::plain;
};

/// One cell of a row; `later_ms` is how long ago the answer came.
cell cell_of(const node& n, const column& c, std::size_t trend, std::int64_t later_ms);

/// The newest `width` numbers as columns of rising height, from the lowest seen to the highest; '·' without a
/// number. A series that hardly moves is flat: the whole height is at least a twentieth of the largest
/// number.
std::string sparkline(const trail& t, std::size_t width);

/// `text` for a terminal that shows ASCII alone: "°" goes, bars become "_.-=*#", all else becomes '?'.
std::string in_ascii(std::string_view text);

}  // namespace binnacle::cli::top
