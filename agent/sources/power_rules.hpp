#pragma once

#include "common/clock.hpp"
#include "common/metrics/plausible.hpp"

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

/// Fewer watts than these mean that the number has another unit than the kernel promises (mW, mJ), for no
/// processors draw so little while this program runs on them.
///
/// With a TDP: a 1/500 of it; the parts of notebooks, which idle lowest of all, draw 1/100 and more. Without
/// one (AMD, Arm, the perf PMU): 25 mW for each CPU online. Notebooks of AMD idle at 60 mW and more, and a
/// CPU of a server draws at most 23 W, which is less than 25 mW if it is in mW. A machine with several
/// sockets is a server, and none of its sockets draws less than 1 W, also when it sleeps.
constexpr double least_watts_per_cpu = 0.025;
constexpr double least_share_of_tdp = 1.0 / 500;
constexpr double least_watts_of_a_socket = 1;

/// More watts than the processors of any machine draw, so that their number has another unit (nJ, nW).
constexpr double most_watts_of_processors = 4000;

/// More watts than the platform of any machine draws: a server of eight accelerators and two processors draws
/// 6 to 15 kW.
constexpr double most_watts_of_platform = 20'000;

/// The default; the setting `rapl-still-after` changes it.
inline constexpr duration usual_still_after = std::chrono::seconds(10);

/// All watts are rounded to 0.1 W, and fewer than these are shown as 0.
constexpr double least_watts_shown = 0.05;

/// Whether these watts are shown as 0. For a thing that is on (a package, the platform, the machine) that is
/// no valid value.
constexpr bool no_watts(double watts) noexcept { return watts < least_watts_shown; }

/// Whether these watts are shown as less than 0. What draws power never says so; a meter that counts both
/// ways does (a battery's, a shunt's). Either way, in a sum such a number would hide what the other parts
/// draw.
constexpr bool negative_watts(double watts) noexcept { return watts <= -0.05; }

/// Whether these watts are more than METRICS.md says that a family of watts can have (a rack). An aggregator
/// takes such a value for none, so it must not contradict a true one here either.
inline bool too_many_watts(double watts) noexcept {
  static const double most = metrics::plausible(*metrics::find("host_power_watts")).most;
  return watts > most;
}

}  // namespace binnacle::agent
