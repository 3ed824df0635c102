#pragma once

#include "cli/terminal_text.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::cli::bridge {

/// What kubectl says on standard error, for a person who waits: it may want a login, and then says where and
/// with which code. Nothing is shown before show(), so that a call that is soon over shows nothing.
class overheard {
 public:
  explicit overheard(std::ostream& person) : person_(person) {}

  /// Text as it comes, in pieces of any length.
  void take(std::string_view text) {
    held_ += text.substr(0, most - held_.size());
    if (shown_) show();
  }

  /// Shows what was said so far, and from now on everything.
  void show() {
    shown_ = true;
    if (held_.empty()) return;
    if (!std::exchange(begun_, true)) person_ << '\n';  // below the line that says what the command does
    std::string_view rest = held_;
    while (!rest.empty()) {
      const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
      person_ << for_terminal(rest.substr(0, end));
      if (end < rest.size()) person_ << '\n';
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    person_ << std::flush;
    held_.clear();
  }

 private:
  static constexpr std::size_t most = 64u << 10;  // bytes that are held; the rest is dropped
  std::ostream& person_;
  std::string held_;
  bool shown_ = false, begun_ = false;
};

}  // namespace binnacle::cli::bridge
