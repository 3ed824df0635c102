#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Whole numbers from `first` to `last`, which is not smaller.
struct number_range {
  unsigned first = 0, last = 0;
};

/// Parses a list as the kernel writes it, of CPUs or of bits: "0-3,8,10-11", with or without a line end. The
/// ranges are in the order of the text. Nothing if the text has another form, is empty, or has a number above
/// `most`. Pure. Source: Linux lib/bitmap-str.c, bitmap_parselist().
std::optional<std::vector<number_range>> parse_ranges(std::string_view text, unsigned most);

}  // namespace binnacle::agent
