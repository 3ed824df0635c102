#pragma once

#include "cli/top/session.hpp"
#include "common/error.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace binnacle::cli::top {

/// The terminal, through ncurses: shows pages, reads keys and clicks. When this is destroyed, the terminal
/// shows again what it showed before. Only one may exist at a time.
class curses {
 public:
  /// If `colours` is false, only bold and reverse are used. Errors: not_found (the terminal's type is
  /// unknown, or it can only print line after line); io (there is no terminal from which keys can be read).
  static result<std::unique_ptr<curses>> open(bool colours);
  ~curses();
  curses(const curses&) = delete;
  curses& operator=(const curses&) = delete;

  bool utf8() const noexcept;     ///< the terminal shows more than ASCII
  int keyboard() const noexcept;  ///< the descriptor that is readable when next() has something
  std::size_t width() const noexcept;
  std::size_t height() const noexcept;
  /// Call it after SIGWINCH.
  void resized();
  void show(const page& p);
  /// The next key press; nothing if no key is waiting.
  std::optional<event> next();

 private:
  struct impl;
  explicit curses(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::cli::top
