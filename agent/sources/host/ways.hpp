#pragma once

#include "agent/sources/host/whole_machine_check.hpp"
#include "common/metrics/family.hpp"

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// How much of the machine a way measures. Ways with the same reach are known to measure the same thing. A
/// chip may show one socket of two, and firmware's zones may lack what a chip shows, so these two have
/// different values.
enum reach : unsigned { chips_named, firmware_zones, packages, platform, machine };
constexpr bool of_processors(reach r) { return r <= packages; }

/// Below this share of another meter of the same thing, a number is no matter of what else that one measures.
constexpr double far_share = 0.2;

/// With what the numbers of a way are compared.
struct comparison {
  std::string_view with;  ///< source of the other way; empty: the best way that measures the processors
  whole_machine_check::settings how;
  /// Only while the other way has the agent's own choice of sensors: those that a person names may measure
  /// more.
  bool usual_sensors = false;
};

/// What is inside the parts of a way, and has meters of its own. A part draws at least as much as all of it.
struct contents {
  std::span<const metrics::member> series;
  std::string_view label;     ///< of such a series: in which part it is
  std::string_view of_whole;  ///< the label of a part that has the same value
};

/// One way to know a figure. A sum is absent if any of its parts is. A maximum is taken over the parts that
/// have a value. It is absent if a part that once had one has none, since that part may be the highest.
struct way {
  std::string_view source;  ///< the label's value
  std::span<const metrics::member> parts;
  reach of = machine;
  bool sum = true;
  bool named = false;       ///< only parts with names that the settings give
  bool counter = false;     ///< an energy counter: while it does not move there is no power
  bool parts_on = false;    ///< none of the parts may be 0
  bool one_counts = false;  ///< each part is the whole, but only one of them ever moves
  bool bays = false;        ///< a part may be the sensor of an empty bay
  /// It is there only beside a better way, whose lies it shows. Its parts may be right although their sum is
  /// not the machine's, so they are not withheld.
  bool witness = false;
  /// A family that the source announces. While the source still looks for the parts, this family has no
  /// value.
  std::string_view looked_for = {};
  std::span<const comparison> compared = {};
  /// Only in the first family of the parts. A way that is compared with itself is compared with these.
  contents inside = {};
  /// What the same meter says besides its watts. It is withheld with them.
  std::span<const metrics::member> sisters = {};

  bool judged() const { return parts_on || !compared.empty(); }
  /// A check for each comparison, in their order.
  std::vector<whole_machine_check> checks() const;
};

/// A figure of the node, with the ways to know it from the best to the worst.
struct composite {
  std::string_view family;
  std::string_view group;
  std::span<const way> ways;
};

extern const std::array<composite, 2> composites;

}  // namespace binnacle::agent
