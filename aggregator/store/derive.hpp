#pragma once

#include "aggregator/store/row.hpp"
#include "aggregator/store/shape.hpp"
#include "aggregator/store/types.hpp"
#include "common/metrics/families.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

/// A metric name becomes a node's one number: compiled once per shape into a plan, which then
/// costs a few additions per batch. Pure.
namespace binnacle::store {

/// value = scale × raw + offset, in exact decimals. `exponent` is the result's: as fine as the raw value's
/// resolution times the scale, and one digit more where the scale is no power of ten.
struct linear {
  decimal scale{1, 0};
  decimal offset{0, 0};
  std::int8_t exponent = 0;
};

struct plan {
  struct term {
    std::uint32_t series = 0;
    std::uint16_t group = 0;
    std::int64_t factor = 1;  ///< brings the series' mantissa to `exponent`
  };
  bool known = false;  ///< false: no series of this node has the name; every sample is `missing`
  metrics::node_rule rule = metrics::node_rule::sole;
  std::vector<term> terms;
  std::int8_t exponent = 0;       ///< of the terms, multiplied by their factors
  std::vector<term> denominator;  ///< ratio_of_sums
  std::int8_t denominator_exponent = 0;
  std::int8_t result_exponent = 0;  ///< of the raw value, before `map`
  std::optional<linear> map;

  /// The counters behind the terms: their summed difference, divided by the time, is the raw value's mean.
  /// Empty unless every term has a counter.
  std::vector<term> integral;
  std::int8_t integral_exponent = 0;

  std::vector<std::uint16_t> groups;  ///< ascending: the groups whose read or change changes the sample
  duration
      longest_gap{};  ///< the longest stale-after of a member: reads further apart are a hole in a window

  /// True: when one member expires, the sample goes on with the other members.
  bool outlives_members() const noexcept {
    using metrics::node_rule;
    return groups.size() > 1 && (rule == node_rule::max || rule == node_rule::min || rule == node_rule::mean);
  }
};

/// Whether a series with those labels is wanted.
using series_filter = std::function<bool(const metrics::label_set&)>;

/// What `name` means at a node of that shape: an alias, else a family of ours, else a flat name of ours, else
/// a foreign family, else a foreign flat name. Foreign families of several series: gauges take the maximum,
/// counters the sum.
/// With `keep` (a metricLabelSelector), the family's series that have these labels count, and not the members
/// of its node rule. One series is taken as it is, several are joined by the rule.
plan compile(const shape& s, const metrics::resolved& name, const series_filter& keep = {});
/// The same for a `metric` that may be an alias: `name` is what the alias table makes of it. At a node that
/// has a foreign family of that very name, the name means this family and not the alias.
plan compile(const shape& s, std::string_view metric, const metrics::resolved& name,
             const series_filter& keep = {});

/// The raw value (before `map`) of the plan at `now`. read_at is the oldest member's, expires_at the
/// earliest; an absent sample gives the reason of the first absent member. If the sample goes on with the
/// other members (outlives_members()), a member past its expiry counts as absent. Otherwise that member ends
/// the sample: the value stays, and expires_at has passed. A partial value is still exact if the missing
/// members have never had a value.
sample evaluate(const plan& p, const row& cells, instant now) noexcept;

/// A raw value through the plan's scale and offset; out_of_range when it no longer fits.
void finish(const plan& p, sample& s) noexcept;

/// The sum of the plan's integral counters, if there are any and all are present.
std::optional<std::int64_t> integral_now(const plan& p, const row& cells) noexcept;

/// An alias's scale and offset for values of that resolution; nothing when they change nothing.
std::optional<linear> make_linear(double scale, double offset, std::int8_t exponent) noexcept;

}  // namespace binnacle::store
