#pragma once

#include <string>
#include <string_view>

namespace binnacle::cli {

enum class colour : unsigned char { none, red, yellow, green, dim, bold };

/// Colours for people, used sparingly. Red: a person must act. Yellow: degraded. Green: good. Dim: details.
struct paint {
  bool on = false;

  std::string operator()(colour c, std::string_view text) const {
    static constexpr std::string_view codes[] = {"", "31", "33", "32", "2", "1"};
    if (!on || c == colour::none || text.empty()) return std::string(text);
    return "\x1b[" + std::string(codes[static_cast<unsigned>(c)]) + "m" + std::string(text) + "\x1b[0m";
  }
};

/// Colours are on for a terminal, unless NO_COLOR is set and not empty (no-color.org) or TERM is "dumb".
bool colours_wanted(bool is_terminal, const char* no_color, const char* term) noexcept;

}  // namespace binnacle::cli
