#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>
#include <string_view>
#include <vector>

/// What answers say of nodes, in the words that every view of them uses. Pure.
namespace binnacle::cli {

struct shown_metric {
  std::string name, unit, title;
};

/// Power, temperature and CPU under short names, in that order, then what was asked for. What the server adds
/// because a policy watches it is left out.
std::vector<shown_metric> choose_metrics(const json::value& nodes, const std::vector<std::string>& wanted);

/// The node's value of the metric as the server wrote it; null if it has none.
const json::value* value_of(const json::value& node, const std::string& metric);

/// Every policy that has a verdict on some node, in the order of their names.
std::vector<std::string> policies_of(const json::value& nodes);
/// "power" for "default/power"; others as they are.
std::string short_name(const std::string& policy);

/// "a, b and 3 more": of a group {count, nodes}, whose nodes the answer may name in part; eight names at
/// most.
std::string names_of(const json::value& group);

/// 0 for pass, more the worse the state is: violating has most.
int badness(std::string_view state);

/// One policy's verdict on a node: the worst of its strategies.
struct standing {
  std::string state = "pass";
  bool dry = false;  ///< the policy is in DryRun
};
/// The verdicts of these policies on a node, in their order, and why they are not all "pass".
struct node_verdicts {
  std::vector<standing> of;
  std::string why;
};
/// `metrics` have columns of their own, so that `why` need not repeat their values.
node_verdicts verdicts_of(const json::value& node, const std::vector<std::string>& policies,
                          const std::vector<shown_metric>& metrics);

/// What is odd about a connected node, then "node-b rapl: why" for each source that cannot be read, or works
/// in part.
std::vector<std::string> lacks_of(const json::value& node);

}  // namespace binnacle::cli
