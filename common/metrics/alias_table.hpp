#pragma once

#include "common/metrics/families.hpp"

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::metrics {

/// Old metric names and what they mean. A user's own rows come before the built-in ones. Once the table is
/// filled, any thread may read it.
class alias_table {
 public:
  /// The built-in rows.
  alias_table();
  alias_table(const alias_table&) = delete;
  alias_table& operator=(const alias_table&) = delete;

  /// Adds a row of the user and copies its texts. It wins over a built-in row of the same name, and over a
  /// later row of the user.
  void add(const alias& row);

  /// The user's rows as added, then the built-in ones sorted by name.
  std::span<const alias> all() const noexcept { return rows_; }
  /// How many of all() are the user's.
  std::size_t own() const noexcept { return own_; }

  /// Looks `name` up in the table; a name that is no alias resolves to itself.
  resolved resolve(std::string_view name) const;

  /// The built-in rows alone.
  static const alias_table& built_in();

 private:
  std::string_view keep(std::string_view text);

  std::vector<alias> rows_;
  std::size_t own_ = 0;
  std::deque<std::string> texts_;
};

/// Points to the table in force. For objects that outlive a table, since the user's file may change at any
/// time. Threads: one.
class names_in_force {
 public:
  explicit names_in_force(std::shared_ptr<const alias_table> table) : table_(std::move(table)) {}

  const std::shared_ptr<const alias_table>& table() const noexcept { return table_; }
  void replace(std::shared_ptr<const alias_table> newer) noexcept { table_ = std::move(newer); }

  /// Always the built-in rows.
  static const names_in_force& built_in();

 private:
  std::shared_ptr<const alias_table> table_;
};

}  // namespace binnacle::metrics
