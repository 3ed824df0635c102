#pragma once

#include "cli/top/fleet.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::top {

/// Before a label's key in what nodes are put together by.
inline constexpr std::string_view label_prefix = "label:";

/// By what nodes can be put together: "label:KEY", "link", "version" or "prefix".
struct grouping {
  std::string id;
  std::string title;  ///< for people
};
/// What there is in this fleet, labels last: those of policies and those of Node objects.
std::vector<grouping> groupings_of(const fleet& all);

/// The group that the node belongs to, as people read it: the label's value, "(none)" without that label.
std::string group_of(const node& n, std::string_view grouping);

/// Watts, joules, bytes and amperes of several nodes add up; of all else the mean says something.
bool adds_up(std::string_view unit) noexcept;

/// These nodes as one: sums or means by each metric's unit, the worst verdicts, the oldest ages. A value that
/// some members lack is partial.
node together(std::string name, const std::vector<const node*>& members,
              const std::vector<shown_metric>& metrics);

/// One row per group, in the order of their names.
std::vector<node> grouped(const std::vector<const node*>& nodes, std::string_view grouping,
                          const std::vector<shown_metric>& metrics);

}  // namespace binnacle::cli::top
