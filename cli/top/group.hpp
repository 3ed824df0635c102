#pragma once

#include "cli/top/fleet.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::top {

/// The prefix of a grouping by a label: "label:KEY".
inline constexpr std::string_view label_prefix = "label:";

/// A way to group nodes: "label:KEY", "link", "version" or "prefix".
struct grouping {
  std::string id;
  std::string title;  ///< for people
};
/// The groupings that this fleet has. Labels come last: those of policies and those of Node objects.
std::vector<grouping> groupings_of(const fleet& all);

/// The name of the node's group, for people: the label's value; "(none)" if the node has no such label.
std::string group_of(const node& n, std::string_view grouping);

/// Whether a group's value is a sum: true for watts, joules, bytes and amperes. All other units have a mean.
bool adds_up(std::string_view unit) noexcept;

/// These nodes as one row: sums or means by each metric's unit, the worst verdicts, the oldest ages. A value
/// is partial if some members lack it.
node together(std::string name, const std::vector<const node*>& members,
              const std::vector<shown_metric>& metrics);

/// One row for each group, sorted by name.
std::vector<node> grouped(const std::vector<const node*>& nodes, std::string_view grouping,
                          const std::vector<shown_metric>& metrics);

}  // namespace binnacle::cli::top
