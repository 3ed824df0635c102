#pragma once

#include "cli/top/fleet.hpp"
#include "cli/views/table.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::cli::top {

enum class column_kind : unsigned char { name, metric, age, trend, curve, policy, why };

struct column {
  column_kind kind = column_kind::name;
  std::string id;         ///< "node", "metric:NAME", "age", "trend", "curve", "policy:NAME", "why"
  std::string title;      ///< in the header
  std::size_t index = 0;  ///< into fleet::metrics() or fleet::policies()
  std::string unit;       ///< the unit of a metric
  std::size_t width = 0;  ///< in characters; for "why" the least width
  align how = align::left;
};

/// The choices of the person at the terminal.
struct choices {
  std::string sort;       ///< a column's id; empty: power, or the first metric
  bool reversed = false;  ///< opposite to the column's own order; numbers and states begin with the largest
  std::string filter;
  std::string grouping;                                       ///< empty: nodes
  std::optional<std::pair<std::string, std::string>> within;  ///< only nodes of this group of this grouping
  std::string policy;                 ///< only this policy and what it compares; empty: all
  std::map<std::string, bool> shown;  ///< columns that the person switched on or off
};

/// The columns and rows that are shown, in order. They are made anew only when an answer came or a choice
/// changed; so drawing a page costs only the rows on the screen.
class listing {
 public:
  /// `compared` has the metrics that the watched policy's rules compare. `of` must outlive this object and
  /// stay unchanged.
  void make(const fleet& of, const choices& how, const std::vector<std::string>& compared);

  const std::vector<column>& columns() const noexcept { return columns_; }  ///< shown ones
  const std::vector<column>& every_column() const noexcept { return every_; }
  std::size_t sorted() const noexcept { return sorted_; }  ///< index of the column that orders the rows
  const std::vector<const node*>& rows() const noexcept { return rows_; }
  std::size_t nodes() const noexcept { return nodes_; }          ///< nodes that passed the filter
  std::size_t violating() const noexcept { return violating_; }  ///< of these, by a policy in force
  /// The metric that the trails show, as an index of fleet::metrics().
  std::size_t trend() const noexcept { return trend_; }
  /// All nodes that passed the filter, as one row.
  const node& total() const noexcept { return total_; }

 private:
  void make_columns(const fleet& of, const choices& how, const std::vector<std::string>& compared);
  void order(const fleet& of, const choices& how);

  std::vector<column> every_, columns_;
  std::size_t sorted_ = 0;
  std::vector<node> groups_;
  std::vector<const node*> rows_;
  std::size_t nodes_ = 0, violating_ = 0, trend_ = 0;
  node total_;
};

/// The text in the column of names: the name, with "(down)", "(in part)", or the number of nodes in a group.
std::string shown_name(const node& n);

}  // namespace binnacle::cli::top
