#pragma once

#include "common/metrics/catalog.hpp"

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::metrics {

/// Old names and what they mean: a user's own rows before the built-in ones. Once it is filled any thread may
/// read it.
class alias_table {
 public:
  /// The built-in rows.
  alias_table();
  alias_table(const alias_table&) = delete;
  alias_table& operator=(const alias_table&) = delete;

  /// Adds a user's row, whose texts it copies; it wins over built-in rows of that name, and over later ones.
  void add(const alias& row);

  /// The user's rows as added, then the built-in ones sorted by name.
  std::span<const alias> all() const noexcept { return rows_; }
  /// How many of all() are the user's.
  std::size_t own() const noexcept { return own_; }

  /// `name` through the table; a name that is no alias resolves to itself.
  resolved resolve(std::string_view name) const;

  /// The built-in rows alone.
  static const alias_table& built_in();

 private:
  std::string_view keep(std::string_view text);

  std::vector<alias> rows_;
  std::size_t own_ = 0;
  std::deque<std::string> texts_;
};

/// The table in force, for objects that outlive a table: the user's file may change at any time. Threads:
/// one.
class names_in_force {
 public:
  explicit names_in_force(std::shared_ptr<const alias_table> table) : table_(std::move(table)) {}

  const std::shared_ptr<const alias_table>& table() const noexcept { return table_; }
  void replace(std::shared_ptr<const alias_table> newer) noexcept { table_ = std::move(newer); }

  /// The built-in rows, for ever.
  static const names_in_force& built_in();

 private:
  std::shared_ptr<const alias_table> table_;
};

}  // namespace binnacle::metrics
