#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace binnacle::metrics {

/// `histogram` is only for what a program says about itself on its scrape endpoint: one entry stands for
/// NAME_bucket{le}, NAME_sum and NAME_count. Series on the wire and in the store are gauges and counters.
enum class kind : std::uint8_t { gauge, counter, histogram };

/// How the series of a family on one node become one number for the node. This is needed because a rule of a
/// TASPolicy has no selector.
enum class node_rule : std::uint8_t {
  sole,           ///< the family has one series per node
  sum,            ///< absent if any member is absent
  max,            ///< over the members present; `partial` when some are absent
  min,            ///< as max
  mean,           ///< as max
  ratio_of_sums,  ///< Σ numerator family / Σ denominator family over the members; absent if any member is
};

/// Which series count: those of `family` whose label `label` has the value `value`. An empty `label`: all
/// series.
struct member {
  std::string_view family;
  std::string_view label = {};
  std::string_view value = {};
};

/// The values that are possible at all, both ends included, and the largest usual difference between honest
/// nodes (0: unknown).
struct plausible_range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  double apart = 0;

  constexpr bool holds(double value) const noexcept { return value >= least && value <= most; }
  friend bool operator==(const plausible_range&, const plausible_range&) = default;
};

/// One metric that we emit. All text is static. The tables are families_*.hpp, one per source; METRICS.md is
/// printed from them.
struct family {
  std::string_view name;
  std::string_view unit;  ///< "watts", "joules", "celsius", "ratio", "bytes", "seconds", "" for counts
  kind type = kind::gauge;
  std::int8_t exponent = 0;  ///< resolution: values are multiples of 10^exponent
  std::string_view help;
  std::span<const std::string_view> labels = {};  ///< in the order of flat names
  node_rule rule = node_rule::sole;
  std::span<const member> members = {};      ///< empty: all series of this family
  std::span<const member> denominator = {};  ///< for ratio_of_sums; `members` is the numerator
  std::string_view source;                   ///< "rapl", "os", "bmc", "aggregator"…
  std::string_view privilege = {};           ///< what reading it needs, for METRICS.md and --probe
  /// The counter whose change over time gives this gauge (joules give watts). It belongs to the series with
  /// the same labels and, if given, also `label` = `value`. Empty family: none.
  member integral = {};
  bool per_cpu = false;  ///< no flat names: there would be hundreds on one node
  /// How many of `labels`, from the first on, make flat names, if so many already tell the series of a node
  /// apart; 0: all.
  std::size_t flat_labels = 0;
  std::optional<plausible_range> plausible = std::nullopt;  ///< in place of its unit's range (plausible.hpp)
};

}  // namespace binnacle::metrics
