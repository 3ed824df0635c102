#pragma once

#include "aggregator/policy/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace binnacle::metrics {
class alias_table;
}

/// What a policy takes of the aggregator, computed from its text before it is in force. Pure.
namespace binnacle::policy {

/// Upper bounds. Numbers that grow with the fleet are given for one node.
struct cost {
  std::uint64_t columns = 0;     ///< different pairs of a metric and a window with its statistic
  std::uint64_t label_keys = 0;  ///< that may be given to nodes
  /// Each may be compared when one node's values come. Other nodes' values wait meanwhile.
  std::uint64_t rules = 0;
  std::uint64_t node_bytes = 0;  ///< memory: columns, plans, points of windows, states of rules, labels
  /// In a second: rules compared, and points of windows looked at, when each value comes as often as agents
  /// are asked for it.
  std::uint64_t node_evaluations = 0;

  cost& operator+=(const cost& other) noexcept;
  cost& operator-=(const cost& other) noexcept;
  friend bool operator==(const cost&, const cost&) = default;
};

/// A policy's cost, with the columns apart: a column that two policies read exists once, so its cost is
/// shared.
struct priced {
  std::map<store::column_spec, cost> columns;
  cost own;  ///< of its rules and labels

  cost total() const noexcept;
};

/// `names`: the old names that are in force; some have a window of their own.
priced price(const policy& p, const metrics::alias_table& names);

/// The sum of several policies' costs, with each column counted once.
class bill {
 public:
  void add(const priced& p);
  /// Takes a policy off again that was added.
  void remove(const priced& p);
  const cost& total() const noexcept { return total_; }
  /// What the sum would be with one policy more.
  cost with(const priced& p) const noexcept;

 private:
  std::map<store::column_spec, std::size_t> users_;
  cost total_;
};

}  // namespace binnacle::policy
