#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string_view>

namespace binnacle::cli {

/// The terminal's second screen, for a page that is redrawn: what was there before comes back at the end,
/// also after SIGINT or SIGTERM.
class screen {
 public:
  explicit screen(std::ostream& out);
  ~screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  /// Columns and lines of the terminal on standard output; 80 and 24 if it does not say.
  struct size {
    std::size_t width, height;
  };
  static size dimensions();

  /// Draws `page` over what is there, without flicker.
  void show(std::string_view page);
  /// False once SIGINT or SIGTERM came; waits up to `span` otherwise.
  bool wait(std::chrono::milliseconds span);

 private:
  std::ostream& out_;
};

}  // namespace binnacle::cli
