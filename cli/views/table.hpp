#pragma once

#include "cli/views/paint.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli {

enum class align : unsigned char { left, right };

/// Rows of cells printed in aligned columns, two blanks apart. Widths are those of a terminal (columns_of).
class table {
 public:
  struct cell {
    std::string text;
    colour ink = colour::none;
  };

  /// `gap`: blanks in front of the column; the first column has none.
  void column(std::string header, align how = align::left, std::size_t gap = 2);
  void row(std::vector<cell> cells);

  /// Lines without line ends; the last column is not padded.
  std::vector<std::string> lines(const paint& with) const;

 private:
  struct head {
    std::string text;
    align how;
    std::size_t gap;
  };
  std::vector<head> columns_;
  std::vector<std::vector<cell>> rows_;
};

}  // namespace binnacle::cli
