// Which of several states to go on from, node by node.
//
// Neither a state's age nor the age of its replica says how good it is. A replica that lives may have begun
// with nothing a minute ago, or may hear only some of the agents. A file may lack the last half hour. What
// counts is for how long, and until when, the node's agent was connected to whoever wrote the state: windows,
// `for` and bands are learned in that time, and what happened after it is missing.
//
// Two replicas that have run for long know nearly the same. Then the first state counts: the one of the
// replica that lives. It lacks nothing, while the file lacks what happened since it was written.

#include "aggregator/snapshot/kept_state.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace binnacle::aggregator {
namespace {

// How much more another state must know. A restart takes less.
constexpr duration clearly_more = std::chrono::minutes(1);

// Whether `later` has heard of the node since `earlier` knew it, without a gap, and `earlier` has a gap until
// now. Such a gap ends every `for` and empties every short window, and no length of acquaintance mends that.
bool goes_on_from(const kept_state& earlier, const snapshot::node& then, const kept_state& later,
                  const snapshot::node& since, instant now) {
  if (!later.is_dated || !then.heard || !since.heard) return false;
  const instant ended = then.heard->until + earlier.shift;
  return since.heard->since + later.shift <= ended && now - ended > clearly_more;
}

}  // namespace

duration knowledge_of(const kept_state& s, const snapshot::node& n, instant now) noexcept {
  if (!s.is_dated || !n.heard) return duration::min();
  const duration known = std::min(n.heard->until - n.heard->since, snapshot::longest_contact);
  return known - std::max(now - (n.heard->until + s.shift), duration::zero());
}

std::vector<kept_node> best_nodes(std::span<const kept_state> states, instant now) {
  std::vector<kept_node> out;
  std::map<std::string_view, std::size_t> places;  // in `out`
  for (std::size_t s = 0; s < states.size(); ++s) {
    for (std::size_t n = 0; n < states[s].all.nodes.size(); ++n) {
      const snapshot::node& node = states[s].all.nodes[n];
      const auto [place, is_new] = places.try_emplace(node.name, out.size());
      if (is_new) {
        out.push_back({s, n});
        continue;
      }
      kept_node& best = out[place->second];
      const snapshot::node& other = states[best.state].all.nodes[best.node];
      if (goes_on_from(states[s], node, states[best.state], other, now)) continue;
      const duration known = knowledge_of(states[best.state], other, now);
      if (knowledge_of(states[s], node, now) > known + clearly_more) best = {s, n};
    }
  }
  return out;
}

}  // namespace binnacle::aggregator
