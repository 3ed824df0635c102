#include "cli/views/table.hpp"

#include "cli/terminal_text.hpp"

#include <algorithm>

namespace binnacle::cli {
bool colours_wanted(bool is_terminal, const char* no_color, const char* term) noexcept {
  const bool refused = no_color != nullptr && *no_color != '\0';
  return is_terminal && !refused && (term == nullptr || std::string_view(term) != "dumb");
}

void table::column(std::string header, align how, std::size_t gap) {
  columns_.push_back({std::move(header), how, gap});
}

void table::row(std::vector<cell> cells) { rows_.push_back(std::move(cells)); }

std::vector<std::string> table::lines(const paint& with) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t w = columns_of(columns_[c].text);
    for (const auto& r : rows_) {
      if (c < r.size()) w = std::max(w, columns_of(r[c].text));
    }
    widths.push_back(w);
  }

  const auto line = [&](const std::vector<cell>& cells) {
    std::string out;
    std::size_t pending = 0;  // blanks that are printed only if more text follows
    for (std::size_t c = 0; c < cells.size() && c < columns_.size(); ++c) {
      const std::size_t have = columns_of(cells[c].text);
      const std::size_t pad = widths[c] - have;
      if (c > 0) pending += columns_[c].gap;
      if (columns_[c].how == align::right) pending += pad;
      if (have > 0) {
        out.append(pending, ' ');
        pending = 0;
        out += with(cells[c].ink, cells[c].text);
      }
      if (columns_[c].how == align::left) pending += pad;
    }
    return out;
  };

  std::vector<std::string> out;
  std::vector<cell> header;
  for (const head& h : columns_) header.push_back({h.text, colour::dim});
  out.push_back(line(header));
  for (const auto& r : rows_) out.push_back(line(r));
  return out;
}

}  // namespace binnacle::cli
