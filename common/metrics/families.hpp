#pragma once

#include "common/clock.hpp"
#include "common/metrics/family.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::metrics {

/// Label names and values of a series: in the order of the family for our own, in the given order for
/// foreign ones.
using label_set = std::vector<std::pair<std::string, std::string>>;

/// The value of the label with that name. Empty if there is none.
std::string_view label_of(const label_set& labels, std::string_view name) noexcept;

/// Every family that a Binnacle program can emit, sorted by name.
std::span<const family> families() noexcept;

/// The family of that name, or null.
const family* find(std::string_view name) noexcept;

/// An old name that goes on working in policies and the custom metrics API.
struct alias {
  std::string_view name;
  std::string_view family;
  std::string_view label = {};  ///< selector: this label must have `value`
  std::string_view value = {};
  std::optional<node_rule> rule = std::nullopt;  ///< in place of the family's rule, over the series selected
  double scale = 1;                              ///< value = scale × family's value + offset
  double offset = 0;
  std::chrono::seconds window{0};  ///< mean over this window; 0 = the value itself
  std::string_view note = {};      ///< where the name comes from
};

/// The built-in table, sorted by name. A name with "<N>" or "<M>" ("collectd_package_<N>_power_power") is a
/// pattern: each stands for one or more digits, and for the same digits in `value`.
std::span<const alias> aliases() noexcept;

/// The meaning of a metric name after its alias was looked up: what to read, and how to convert it to the
/// unit of the name.
struct resolved {
  std::string family;
  std::string label, value;  ///< selector; empty: all series
  node_rule rule = node_rule::sole;
  bool rule_given = false;  ///< the alias overrides the family's node rule and members with `rule`
  double scale = 1, offset = 0;
  duration window{0};
  bool is_alias = false;
  /// The family to use if no series has `family`. prometheus-adapter serves node_health_metric as
  /// health_metric, and policies were written for that name. Empty for aliases, for our own families, and for
  /// names that begin with node_ already.
  std::string otherwise;

  friend bool operator==(const resolved&, const resolved&) = default;
};

/// Looks `name` up in the built-in aliases; a name that is no alias resolves to itself.
resolved resolve(std::string_view name);

/// The flat name of a series: the family unchanged, then the label values in the order given, in lower case.
/// Each run of characters other than [a-z0-9] becomes one "_", with none at the ends of a value
/// ("rapl_power_watts" {package="0"} → "rapl_power_watts_0"). The family itself if there are no labels. Empty
/// if no label value has a letter or digit, because the name would then be another series' name. Ignores
/// `per_cpu` and collisions: the store handles both.
std::string flat_name(std::string_view family, const label_set& labels);
/// The labels of a series of `f` that make its flat name.
label_set flat_labels(const family& f, const label_set& labels);

/// How old a value may grow before it is absent: the larger of 10 s and three periods.
constexpr duration stale_after(duration period) noexcept {
  return period * 3 > std::chrono::seconds(10) ? period * 3 : duration(std::chrono::seconds(10));
}

/// The whole of METRICS.md.
std::string markdown();

}  // namespace binnacle::metrics
