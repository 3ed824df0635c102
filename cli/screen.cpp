#include "cli/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace binnacle::cli {

screen_size screen_dimensions() noexcept {
  winsize w{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0 || w.ws_row == 0) return {};
  return {w.ws_col, w.ws_row};
}

}  // namespace binnacle::cli
