#pragma once

#include "cli/top/session.hpp"
#include "common/error.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace binnacle::cli::top {

/// The terminal, through ncurses: pages go out, keys and clicks come in. What was on it before comes back
/// when this is destroyed. One at a time.
class curses {
 public:
  /// `colours` off: bold and reverse alone. Errors: not_found, when the terminal is of an unknown type or can
  /// only print one line after another; io, when there is none to read keys from.
  static result<std::unique_ptr<curses>> open(bool colours);
  ~curses();
  curses(const curses&) = delete;
  curses& operator=(const curses&) = delete;

  bool utf8() const noexcept;     ///< shows more than ASCII
  int keyboard() const noexcept;  ///< the descriptor that is readable when next() has something
  std::size_t width() const noexcept;
  std::size_t height() const noexcept;
  /// After SIGWINCH.
  void resized();
  void show(const page& p);
  /// The next key that was pressed; nothing when there is none now.
  std::optional<event> next();

 private:
  struct impl;
  explicit curses(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::cli::top
