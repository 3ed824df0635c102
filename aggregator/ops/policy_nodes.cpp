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

std::shared_ptr<const policy::verdict_column> verdicts_of(const policy::view& nodes,
                                                          const policy::strategy_status& s) {
  const auto found = nodes.policies().find(s.policy);
  const auto* strategy = found == nodes.policies().end() ? nullptr : found->second->find(s.strategy);
  return strategy == nullptr ? nullptr : strategy->verdicts;
}

/// The most nodes named for each strategy and state. METRICS.md has this number, too.
constexpr std::size_t most_nodes_named = 20;

}  // namespace

metrics::label_set strategy_labels(const policy::strategy_status& s) {
  return {{"namespace", s.policy.name_space},
          {"policy", s.policy.name},
          {"strategy", std::string(policy::to_string(s.strategy))}};
}

policy_node_samples::policy_node_samples(const policy::view& nodes,
                                         std::vector<policy::strategy_status> strategies, std::size_t most)
    : nodes_(nodes), strategies_(std::move(strategies)), most_(most), place_(nodes) {}

bool policy_node_samples::go_on(std::size_t looks, std::vector<own_sample>& out) {
  std::size_t done = 0;
  for (; counted_ < strategies_.size(); ++counted_) {
    if (done >= looks) return true;
    count(strategies_[counted_], out);
    done += all_states.size() * looks_of_a_sample;
  }
  if (open_.empty()) return false;
  const bool more_nodes = place_.go_on([&](const store::node_view& node) {
    done += open_.size();
    done += looks_of_a_sample * name(node, out);
    return !open_.empty() && done < looks;
  });
  return more_nodes && !open_.empty();
}

/// Says how many nodes are in each state.
void policy_node_samples::count(const policy::strategy_status& s, std::vector<own_sample>& out) {
  search names{.about = &s, .verdicts = verdicts_of(nodes_, s)};
  for (const policy::state is : all_states) {
    const std::uint32_t count = count_of(s, is);
    auto labels = strategy_labels(s);
    labels.emplace_back("state", policy::to_string(is));
    out.push_back({"binnacle_policy_nodes", std::move(labels), std::uint64_t{count}});
    if (is == policy::state::pass) continue;
    names.wanted[static_cast<std::size_t>(is)] = std::min<std::size_t>(count, most_);
    names.left += names.wanted[static_cast<std::size_t>(is)];
  }
  if (names.verdicts != nullptr && names.left > 0) open_.push_back(std::move(names));
}

/// Names the node for each strategy that still wants names of its state. Returns for how many.
std::size_t policy_node_samples::name(const store::node_view& node, std::vector<own_sample>& out) {
  std::size_t named = 0;
  bool some_are_done = false;
  for (search& s : open_) {
    const policy::state is = s.verdicts->load(node.id).what;
    std::size_t& wanted = s.wanted[static_cast<std::size_t>(is)];
    if (wanted == 0) continue;
    --wanted;
    some_are_done |= --s.left == 0;
    auto labels = strategy_labels(*s.about);
    labels.emplace_back("node", node.name);
    labels.emplace_back("state", policy::to_string(is));
    out.push_back({"binnacle_policy_node_state", std::move(labels), std::uint64_t{1}});
    ++named;
  }
  if (some_are_done) std::erase_if(open_, [](const search& s) { return s.left == 0; });
  return named;
}

policy_samples::policy_samples(const policy::view& nodes, std::vector<policy::strategy_status> strategies)
    : strategies_(std::move(strategies)), nodes_(nodes, strategies_, most_nodes_named) {
  for (const auto& [key, p] : nodes.policies()) policies_.push_back(p);
}

bool policy_samples::go_on(std::size_t looks, std::vector<own_sample>& out) {
  constexpr std::size_t looks_of_two = 2 * policy_node_samples::looks_of_a_sample;
  std::size_t done = 0;
  for (; policy_ < policies_.size(); ++policy_, done += looks_of_two) {
    if (done >= looks) return true;
    const policy::published_policy& p = *policies_[policy_];
    const metrics::label_set names{{"namespace", p.key.name_space}, {"policy", p.key.name}};
    auto with_mode = names;
    with_mode.emplace_back("mode", policy::to_string(p.how));
    out.push_back({"binnacle_policy_info", std::move(with_mode), std::uint64_t{1}});
    // Only the lower 53 bits: databases keep doubles, which cannot hold all digits of a larger number.
    out.push_back({"binnacle_policy_revision", names, p.revision & ((std::uint64_t{1} << 53) - 1)});
  }
  for (; strategy_ < strategies_.size(); ++strategy_, done += looks_of_two) {
    if (done >= looks) return true;
    const policy::strategy_status& s = strategies_[strategy_];
    out.push_back({"binnacle_policy_violating_nodes", strategy_labels(s), std::uint64_t{s.violated_by}});
    if (policy::description_of(s.strategy).freezes())
      out.push_back({"binnacle_policy_held_nodes", strategy_labels(s), std::uint64_t{s.held}});
  }
  return done >= looks || nodes_.go_on(looks - done, out);
}

}  // namespace binnacle::ops
