#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Reads what answers say of nodes, and gives the words that all views use for it. Pure.
namespace binnacle::cli {

struct shown_metric {
  std::string name, unit, title;
};

/// Power, temperature and CPU under short names, in that order, then the metrics in `wanted`. Metrics that
/// the server sent only because a policy watches them are left out.
std::vector<shown_metric> choose_metrics(const json::value& nodes, const std::vector<std::string>& wanted);

/// The node's value of the metric as the server wrote it; null if it has none.
const json::value* value_of(const json::value& node, const std::string& metric);

/// Every policy that has a verdict on some node, sorted by name.
std::vector<std::string> policies_of(const json::value& nodes);
/// "power" for "default/power"; any other name stays as it is.
std::string short_name(const std::string& policy);

/// "a, b and 3 more", from a group {count, nodes}. `nodes` may name only a part of the group; at most eight
/// names are printed.
std::string names_of(const json::value& group);

/// 0 for pass; the worse the state, the larger the number. Violating has the largest.
int badness(std::string_view state);

/// One policy's verdict on a node: the worst verdict of its strategies.
struct standing {
  std::string state = "pass";
  bool dry = false;  ///< the policy is in DryRun
};
/// "no room for the verdicts of 7 strategies": which an answer about nodes left out.
std::string verdicts_left_out_words(std::int64_t strategies);

/// The verdicts of several policies on a node, in the order of the policies, and why some are not "pass".
struct node_verdicts {
  std::vector<standing> of;
  std::string why;
};
/// The metrics in `metrics` have columns of their own, so `why` need not repeat their values.
node_verdicts verdicts_of(const json::value& node, const std::vector<std::string>& policies,
                          const std::vector<shown_metric>& metrics);

/// What is wrong with a connected node. First what concerns the node itself, then "node-b rapl: why" for each
/// source that fails, or works only in part.
std::vector<std::string> lacks_of(const json::value& node);

}  // namespace binnacle::cli
