#include "aggregator/node_warnings.hpp"

#include "aggregator/policy_blame.hpp"
#include "common/text/first_few.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace binnacle::aggregator {
namespace {

constexpr std::size_t most_named = 5;

std::string sentence_of(const ingest::contest& c) {
  if (c.stays.empty())
    return fmt::format("node {}: two agents claimed it, and neither is connected now (last from {})", c.node,
                       c.other);
  return fmt::format(
      "node {}: two agents claim it; the one at {} stays, the one at {} is refused: give each machine a node "
      "name and a certificate or token of its own",
      c.node, c.stays, c.other);
}

/// Keeps the first few sentences, and adds one that says how many others there are.
void cut_short(std::vector<std::string>& said, std::string_view what_of_the_others) {
  if (said.size() <= most_named) return;
  const auto others = said.size() - most_named;
  said.resize(most_named);
  said.push_back(fmt::format("{} more nodes {}", others, what_of_the_others));
}

}  // namespace

std::vector<std::string> power_warnings(const std::map<std::string, power_outlier>& odd) {
  std::vector<std::string> out;
  for (const auto& [node, what] : odd) out.push_back(sentence_of(node, what));
  cut_short(out, "draw far more or less than similar nodes");
  return out;
}

std::vector<std::string> claim_warnings(const std::vector<ingest::contest>& contests) {
  std::vector<std::string> out;
  for (const ingest::contest& c : contests) out.push_back(sentence_of(c));
  cut_short(out, "are claimed by two agents each");
  return out;
}

std::vector<std::string> session_warnings(const std::vector<ingest::repeated_end>& ends,
                                          const policy::policy_table& all) {
  std::vector<std::string> out;
  for (const ingest::repeated_end& e : ends) {
    const std::string blame = blame_text(policies_behind(e.why, all));
    out.push_back(fmt::format(
        "the sessions of {} ({}) end again and again, so their values go stale: {}; {}",
        e.nodes.size() == 1 ? "1 node" : fmt::format("{} nodes", e.nodes.size()),
        first_few(e.nodes, most_named), e.why.text(),
        blame.empty() ? "if agents and aggregator are of different versions, bring them to one"
                      : blame + ": name another metric there, or bring the agents to this version"));
  }
  return out;
}

std::vector<std::string> registration_warnings(const std::vector<std::string>& without_object) {
  if (without_object.empty()) return {};
  return {fmt::format(
      "{} connected agents belong to nodes that the API server does not know ({}): their values are shown, "
      "but they get no label; stop these agents, or let the nodes join the cluster under the agents' names",
      without_object.size(), first_few(without_object, most_named))};
}

std::vector<std::string> score_warnings(const extender::counters& of, instant now) {
  std::vector<std::string> out;
  const auto add = [&](const extender::odd_value& last, std::string_view what) {
    if (last.node.empty() || now - last.at > std::chrono::minutes(10)) return;
    out.push_back(
        fmt::format("node {}: its {} {}: check with binnacle top {} whether the node's sensor or "
                    "agent is wrong",
                    last.node, last.metric, what, last.metric));
  };
  add(of.last_beyond,
      "was far outside the other candidates' range when pods were placed, so it counted as the end of that "
      "range");
  add(of.last_implausible,
      "was a value that cannot be when pods were placed, so the node scored as one without a value");
  return out;
}

std::vector<std::string> denial_warnings(const std::vector<denial>& seen, instant now) {
  std::vector<std::string> out;
  for (const auto& [port, shown] : seen) {
    if (shown.count == 0 || now - shown.last > std::chrono::minutes(10)) continue;
    out.push_back(fmt::format(
        "{}: {} connections showed a certificate whose serial number is denied, the last from {}: give its "
        "holder another certificate, or find out who uses it there",
        port, shown.count, shown.from));
  }
  return out;
}

std::vector<std::string> id_warnings(std::size_t given, std::size_t most) {
  if (most == 0 || given < most - most / 2) return {};
  return {
      fmt::format("{} of {} node ids are used up, one for each name that was ever seen: when none is left, "
                  "no new node is accepted; restart this replica before that, or raise max-nodes",
                  given, most)};
}

}  // namespace binnacle::aggregator
