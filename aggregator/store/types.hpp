#pragma once

#include "common/clock.hpp"
#include "common/decimal.hpp"
#include "common/wire/messages.hpp"

#include <compare>
#include <cstdint>
#include <string>

namespace binnacle::store {

/// A node, until it is forgotten: dense, given out in order of first sight, never reused.
enum class node_id : std::uint32_t {};
/// A metric that somebody uses (a policy rule, an alias in use), derived for every node.
enum class column_id : std::uint32_t {};

constexpr std::uint32_t index(node_id id) noexcept { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t index(column_id id) noexcept { return static_cast<std::uint32_t>(id); }

/// How the values of a window become one (a rule's `statistic`).
enum class statistic : std::uint8_t { avg, max, min, p95, stddev, trend };

/// What a column holds: `metric` (family, flat name or alias), over the last `window` (zero: the value
/// itself). Equal specs share a column.
struct column_spec {
  std::string metric;
  duration window{};
  statistic stat = statistic::avg;

  friend auto operator<=>(const column_spec&, const column_spec&) = default;
};

/// One value of a column at one node. Either `reason` is none and `value` counts until `expires_at`, or there
/// is no value and the reason says why. Instants are the aggregator's boot time.
struct sample {
  decimal value;
  instant read_at{};     ///< of the oldest member: the age of the number
  instant expires_at{};  ///< read_at + stale-after; at or past it the sample is absent
  wire::absence reason = wire::absence::not_read_yet;
  bool partial = false;    ///< max, min or mean over what is there
  bool link_down = false;  ///< the node's agent is not connected; the value still counts until it expires

  bool present(instant now) const noexcept { return reason == wire::absence::none && now < expires_at; }
  /// The reason as of `now`: for a value past its expiry `stale`, or `disconnected` while the link is down.
  wire::absence absent_because(instant now) const noexcept {
    if (reason != wire::absence::none || now < expires_at) return reason;
    return link_down ? wire::absence::disconnected : wire::absence::stale;
  }
  friend bool operator==(const sample&, const sample&) = default;
};

}  // namespace binnacle::store
