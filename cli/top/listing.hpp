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
  std::string title;      ///< over it
  std::size_t index = 0;  ///< into fleet::metrics() or fleet::policies()
  std::string unit;       ///< of a metric
  std::size_t width = 0;  ///< in characters; of "why" the least
  align how = align::left;
};

/// What the person at the terminal chose.
struct choices {
  std::string sort;       ///< a column's id; empty: power, or the first metric
  bool reversed = false;  ///< against the column's own order: numbers and states begin with the most
  std::string filter;
  std::string grouping;                                       ///< empty: nodes
  std::optional<std::pair<std::string, std::string>> within;  ///< only nodes of this group of this grouping
  std::string policy;                 ///< only this policy and what it compares; empty: all
  std::map<std::string, bool> shown;  ///< columns that are not as usual
};

/// What is shown: columns and rows in order. Made again when an answer came or a choice changed; a frame then
/// costs what its own rows cost.
class listing {
 public:
  /// `compared`: the metrics that the watched policy's rules compare. `of` must outlive it and stay as it is.
  void make(const fleet& of, const choices& how, const std::vector<std::string>& compared);

  const std::vector<column>& columns() const noexcept { return columns_; }  ///< shown ones
  const std::vector<column>& every_column() const noexcept { return every_; }
  std::size_t sorted() const noexcept { return sorted_; }  ///< which of columns() the order is by
  const std::vector<const node*>& rows() const noexcept { return rows_; }
  std::size_t nodes() const noexcept { return nodes_; }          ///< that passed the filter
  std::size_t violating() const noexcept { return violating_; }  ///< of these, of policies in force
  /// The metric that the rows' trails show, as an index of fleet::metrics().
  std::size_t trend() const noexcept { return trend_; }
  /// Of all nodes that passed the filter.
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

/// What stands in the name's column: with "(down)", "(in part)", or how many nodes a group has.
std::string shown_name(const node& n);

}  // namespace binnacle::cli::top
