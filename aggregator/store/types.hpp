#pragma once

#include "common/absence.hpp"
#include "common/clock.hpp"
#include "common/decimal.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::store {

/// The id of a node until the node is forgotten. Ids are dense, given out in order of first sight, and never
/// reused.
enum class node_id : std::uint32_t {};
/// A metric that somebody uses (a policy rule, an alias in use), derived for every node.
enum class column_id : std::uint32_t {};

constexpr std::uint32_t index(node_id id) noexcept { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t index(column_id id) noexcept { return static_cast<std::uint32_t>(id); }

/// How the values of a window become one (a rule's `statistic`).
enum class statistic : std::uint8_t { avg, max, min, p95, stddev, trend };
/// Their names in manifests, by `statistic`.
inline constexpr std::array<std::string_view, 6> statistic_names{"avg", "max",    "min",
                                                                 "p95", "stddev", "trend"};
static_assert(statistic_names.size() == static_cast<std::size_t>(statistic::trend) + 1);

constexpr std::string_view to_string(statistic s) noexcept {
  return statistic_names[static_cast<std::size_t>(s)];
}

/// What a column holds: `metric` (family, flat name or alias), over the last `window` (zero: the value
/// itself). Equal specs share a column.
struct column_spec {
  std::string metric;
  duration window{};
  statistic stat = statistic::avg;

  friend auto operator<=>(const column_spec&, const column_spec&) = default;
};

/// How a column's value may differ from the value that all its members would give. The enumerants are bits,
/// so that `or` joins two of them.
enum class certainty : std::uint8_t {
  exact = 0,
  at_least = 1,  ///< a maximum that lacks a member: the real one may be larger
  at_most = 2,   ///< a minimum that lacks a member: the real one may be smaller
  unsure = 3,    ///< either: a mean, or a trend of such values
};
constexpr certainty operator|(certainty a, certainty b) noexcept {
  return static_cast<certainty>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr certainty operator&(certainty a, certainty b) noexcept {
  return static_cast<certainty>(static_cast<std::uint8_t>(a) & static_cast<std::uint8_t>(b));
}

/// Below this share of its window a value is partial, and changes no label.
constexpr std::uint8_t least_covered_percent = 80;

/// One value of a column at one node. Either `reason` is none and `value` counts until `expires_at` (which
/// may be over), or there is no value and the reason says why. Instants are the aggregator's boot time.
struct sample {
  decimal value;
  instant read_at{};     ///< of the oldest member: the age of the number
  instant expires_at{};  ///< read_at + stale-after; at or past it the sample is absent
  absence reason = absence::not_read_yet;
  bool partial = false;    ///< max, min or mean without the absent members
  bool link_down = false;  ///< the node's agent is not connected; the value still counts until it expires
  certainty sure = certainty::exact;
  std::uint8_t unknown_percent =
      0;              ///< of its window: the share of which nothing is known; 0 without a window
  duration spread{};  ///< how much later than the oldest member the newest was read

  /// Windows and `for` use this time: a new value of one member counts even if the other members were not
  /// read.
  instant newest_read_at() const noexcept { return read_at + spread; }
  /// Whether enough of the window is known to change a label by the value. After a start, an edit or an
  /// outage the 95th percentile of a minute may come from a single read.
  bool covers_window() const noexcept { return unknown_percent <= 100 - least_covered_percent; }
  bool present(instant now) const noexcept { return reason == absence::none && now < expires_at; }
  /// The same sample for a rule whose values count for `life` after the reading. None: the metric's own
  /// expiry stays.
  sample with_life(const std::optional<duration>& life) const noexcept {
    sample s = *this;
    if (life && reason == absence::none) s.expires_at = read_at + *life;
    return s;
  }
  /// The reason as of `now`: for a value past its expiry `stale`, or `disconnected` while the link is down.
  absence absent_because(instant now) const noexcept {
    if (reason != absence::none || now < expires_at) return reason;
    return link_down ? absence::disconnected : absence::stale;
  }
  friend bool operator==(const sample&, const sample&) = default;
};

}  // namespace binnacle::store
