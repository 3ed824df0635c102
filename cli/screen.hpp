#pragma once

#include <cstddef>

namespace binnacle::cli {

/// The size of the terminal on standard output; 80 by 24 if it is not known.
struct screen_size {
  std::size_t width = 80, height = 24;
};
screen_size screen_dimensions() noexcept;

}  // namespace binnacle::cli
