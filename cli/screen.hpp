#pragma once

#include <cstddef>

namespace binnacle::cli {

/// Columns and lines of the terminal on standard output; 80 and 24 if it does not say.
struct screen_size {
  std::size_t width = 80, height = 24;
};
screen_size screen_dimensions() noexcept;

}  // namespace binnacle::cli
