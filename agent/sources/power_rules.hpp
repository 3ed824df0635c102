#pragma once

#include "common/clock.hpp"

#include <chrono>
#include <string_view>

namespace binnacle::agent {

/// What must be true of a zone's energy counter before its numbers are believed. agent/README.md has the
/// table with the reasons. Hardware adds up energy every millisecond, in steps of at most 1 J (psys of recent
/// servers; 61 or 15 µJ elsewhere). So a zone that draws one watt moves at least ten steps in 10 s.
struct zone_rule {
  bool must_move = false;   ///< a counter that has not moved for `usual_still_after` is dead
  bool may_be_zero = true;  ///< watts that round to 0 are a valid value
  double step_joules = 0;   ///< size of the counter's steps; 0: below a millijoule
};

/// Packages, memory and the platform always draw power while we run on them. Cores may sleep, graphics may be
/// switched off, and about an unknown zone nothing is assumed. Memory in self-refresh may draw less than the
/// 0.05 W that round to 0, but its counter still moves.
constexpr zone_rule rule_of(std::string_view zone) noexcept {
  if (zone == "package") return {true, false};
  if (zone == "psys") return {true, false, 1};
  if (zone == "dram") return {true, true};
  return {};
}

/// The default; the setting `rapl-still-after` changes it.
inline constexpr duration usual_still_after = std::chrono::seconds(10);

/// Whether these watts are shown as 0, since all watts are rounded to 0.1 W. For a thing that is on (a
/// package, the platform, the machine) that is no valid value.
constexpr bool no_watts(double watts) noexcept { return watts < 0.05; }

}  // namespace binnacle::agent
