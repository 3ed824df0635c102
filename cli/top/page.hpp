#pragma once

#include "cli/top/cells.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::top {

/// How a whole line of the terminal stands out.
enum class look : unsigned char { plain, header, selected, bar };

struct span {
  std::size_t x = 0;  ///< column of the terminal, from 0
  std::string text;   ///< without line ends and control characters
  ink with = ink::plain;
  bool marked = false;  ///< stands out in its line: the column that rows are sorted by
};

struct line {
  std::vector<span> spans;
  look how = look::plain;
};

/// The contents of the terminal.
struct page {
  std::vector<line> lines;
  bool typing = false;  ///< show a cursor after the last line's text
};

/// Writes lines of one width, without characters that the terminal cannot show.
class page_writer {
 public:
  page_writer(std::size_t width, bool utf8) : width_(width), utf8_(utf8) {}

  void begin(look how = look::plain) { page_.lines.push_back({{}, how}); }
  /// Adds text to the newest line at column `x`, in at most `room` columns. Text that is cut ends in "…".
  void put(std::size_t x, std::size_t room, std::string_view text, ink with = ink::plain,
           align how = align::left, bool marked = false);
  /// Adds text after the last one, with `gap` blanks between.
  void add(std::string_view text, ink with = ink::plain, std::size_t gap = 2);
  std::size_t lines() const noexcept { return page_.lines.size(); }
  page take(bool typing = false);

 private:
  std::size_t width_;
  bool utf8_;
  std::size_t end_ = 0;  // the column after the last text
  page page_;
};

}  // namespace binnacle::cli::top
