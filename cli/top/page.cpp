#include "cli/top/page.hpp"

#include "cli/terminal_text.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::cli::top {
void page_writer::put(std::size_t x, std::size_t room, std::string_view text, ink with, align how,
                      bool marked) {
  if (x >= width_) return;
  room = std::min(room, width_ - x);
  std::string shown = shortened(utf8_ ? std::string(text) : in_ascii(text), room);
  if (!utf8_) shown = in_ascii(shown);  // the sign of a cut
  const std::size_t columns = columns_of(shown);
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
