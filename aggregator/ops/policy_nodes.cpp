#include "aggregator/ops/policy_nodes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::ops {
namespace {

constexpr std::array all_states{policy::state::pass, policy::state::violating, policy::state::missing,
                                policy::state::held, policy::state::frozen};

std::uint32_t count_of(const policy::strategy_status& s, policy::state is) {
  switch (is) {
    case policy::state::pass: return s.pass;
    case policy::state::violating: return s.violating;
    case policy::state::missing: return s.missing;
    case policy::state::held: return s.held;
    case policy::state::frozen: return s.frozen;
  }
  return 0;
}

/// A strategy whose nodes are still to be named.
struct search {
  const policy::strategy_status* about;
  const policy::verdict_column* verdicts;
  std::array<std::size_t, all_states.size()> wanted{};  // names still to find, by state
  std::size_t left = 0;                                 // their sum
};

const policy::verdict_column* verdicts_of(const policy::view& nodes, const policy::strategy_status& s) {
  const auto found = nodes.policies().find(s.policy);
  const auto* strategy = found == nodes.policies().end() ? nullptr : found->second->find(s.strategy);
  return strategy == nullptr ? nullptr : strategy->verdicts.get();
}

}  // namespace

metrics::label_set strategy_labels(const policy::strategy_status& s) {
  return {{"namespace", s.policy.name_space},
          {"policy", s.policy.name},
          {"strategy", std::string(policy::to_string(s.strategy))}};
}

std::vector<own_sample> policy_nodes(const policy::view& nodes,
                                     std::span<const policy::strategy_status> strategies, std::size_t most) {
  std::vector<own_sample> out;
  std::vector<search> open;
  for (const policy::strategy_status& s : strategies) {
    search names{.about = &s, .verdicts = verdicts_of(nodes, s)};
    for (const policy::state is : all_states) {
      const std::uint32_t count = count_of(s, is);
      auto labels = strategy_labels(s);
      labels.emplace_back("state", policy::to_string(is));
      out.push_back({"binnacle_policy_nodes", std::move(labels), std::uint64_t{count}});
      if (is == policy::state::pass) continue;
      names.wanted[static_cast<std::size_t>(is)] = std::min<std::size_t>(count, most);
      names.left += names.wanted[static_cast<std::size_t>(is)];
    }
    if (names.verdicts != nullptr && names.left > 0) open.push_back(names);
  }
  for (const auto& [name, node] : nodes.nodes()) {
    if (open.empty()) break;
    for (search& s : open) {
      const policy::state is = s.verdicts->load(node->id).what;
      std::size_t& wanted = s.wanted[static_cast<std::size_t>(is)];
      if (wanted == 0) continue;
      --wanted;
      --s.left;
      auto labels = strategy_labels(*s.about);
      labels.emplace_back("node", name);
      labels.emplace_back("state", policy::to_string(is));
      out.push_back({"binnacle_policy_node_state", std::move(labels), std::uint64_t{1}});
    }
    std::erase_if(open, [](const search& s) { return s.left == 0; });
  }
  return out;
}

}  // namespace binnacle::ops
