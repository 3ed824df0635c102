#include "aggregator/node_warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

std::string first_of(const std::vector<std::string>& names) {
  const auto shown = std::min(names.size(), most_named);
  return fmt::format("{}{}",
                     fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     shown < names.size() ? "…" : "");
}

}  // namespace

std::vector<std::string> node_warnings(const std::vector<ingest::contest>& contests,
                                       const std::vector<ingest::repeated_end>& ends,
                                       const std::vector<std::string>& without_object,
                                       const std::map<std::string, power_outliers::outlier>& odd) {
  std::vector<std::string> out;
  for (const auto& [node, what] : odd) {
    if (out.size() == most_named) break;
    out.push_back(sentence_of(node, what));
  }
  if (odd.size() > most_named)
    out.push_back(
        fmt::format("{} more nodes draw far from what nodes like them do", odd.size() - most_named));
  for (std::size_t i = 0; i < std::min(contests.size(), most_named); ++i)
    out.push_back(sentence_of(contests[i]));
  if (contests.size() > most_named)
    out.push_back(fmt::format("{} more nodes are claimed by two agents each", contests.size() - most_named));
  for (const ingest::repeated_end& e : ends) {
    out.push_back(
        fmt::format("the sessions of {} ({}) end again and again, so their values go stale: {}; if agents "
                    "and aggregator are of different versions, bring them to one",
                    e.nodes.size() == 1 ? "1 node" : fmt::format("{} nodes", e.nodes.size()),
                    first_of(e.nodes), e.why.text()));
  }
  if (!without_object.empty()) {
    out.push_back(fmt::format(
        "{} connected agents are of nodes that the API server does not know ({}): their values are shown, "
        "but they get no label; end these agents, or let the nodes join under the agents' names",
        without_object.size(), first_of(without_object)));
  }
  return out;
}

std::optional<std::string> id_warning(std::size_t given, std::size_t most) {
  if (most == 0 || given < most - most / 2) return std::nullopt;
  return fmt::format(
      "{} of {} node ids are given out, one for each name that was ever seen: without one left no new node "
      "is taken; restart this replica before, or raise max-nodes",
      given, most);
}

}  // namespace binnacle::aggregator
