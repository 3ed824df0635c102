#include "cli/top/page.hpp"

#include "common/text/utf8.hpp"

#include <algorithm>
#include <cwchar>
#include <utility>

namespace binnacle::cli::top {
namespace {

/// The columns of one well-formed character. For a character that the locale does not know wcwidth() gives
/// -1, and a terminal shows one column.
std::size_t columns_of_character(std::string_view character) noexcept {
  if (character.size() == 1) return 1;
  auto code = static_cast<wchar_t>(static_cast<unsigned char>(character[0]) & (0x7fu >> character.size()));
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  const int columns = ::wcwidth(code);
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

/// The front of `text` that fits into `room` columns.
std::string_view front_of(std::string_view text, std::size_t room) noexcept {
  std::size_t end = 0, used = 0;
  while (end < text.size()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text.substr(end)));
    used += columns_of_character(text.substr(end, length));
    if (used > room) break;
    end += length;
  }
  return text.substr(0, end);
}

}  // namespace

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
    columns += columns_of_character(text.substr(0, length));
    text.remove_prefix(length);
  }
  return columns;
}

void page_writer::put(std::size_t x, std::size_t room, std::string_view text, ink with, align how,
                      bool marked) {
  if (x >= width_) return;
  room = std::min(room, width_ - x);
  std::string shown = utf8_ ? std::string(text) : in_ascii(text);
  std::size_t columns = columns_of(shown);
  if (columns > room) {
    shown = std::string(front_of(shown, room == 0 ? 0 : room - 1));
    if (room > 0) shown += utf8_ ? "…" : "~";
    columns = columns_of(shown);
  }
  if (how == align::right) x += room - columns;
  end_ = x + columns;
  page_.lines.back().spans.push_back({x, std::move(shown), with, marked});
}

void page_writer::add(std::string_view text, ink with, std::size_t gap) {
  if (text.empty()) return;
  const std::size_t x = page_.lines.back().spans.empty() ? 0 : end_ + gap;
  put(x, width_, text, with);
}

page page_writer::take(bool typing) {
  page_.typing = typing;
  return std::exchange(page_, {});
}

}  // namespace binnacle::cli::top
