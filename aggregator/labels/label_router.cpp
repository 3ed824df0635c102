// The link between the engine and the part that carries out its wishes.
//
// The engine may not be called while it works: a label that is carried can free a slot, which changes the
// wishes of another node. So relabel() only notes the node, and do_wishes() runs after the engine is done,
// again and again until nothing is left; in a cluster, some nodes in each turn. Standalone the wish comes
// true at once, and the engine is told in the same turn. In a cluster the wish is sent to the faces loop, and
// the engine hears of it when the Node object has changed.
//
// `objects_` holds what the Node objects carried, by name and not by the store's id. Node objects come before
// the agents after a restart, they stay when an agent is away, and a node that was forgotten comes back
// under another id. Where a Node carries labels of ours and no agent has come, the store makes the node
// known all the same (tell_engine), since its labels count against maxNodes.
//
// Wishes that equal the last ones sent are not sent again. A node without a Node object is sent nothing:
// nobody could write its labels, and node_label_sync would keep them for nothing.

#include "aggregator/labels/label_router.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace binnacle::labels {

label_router::label_router(bool in_cluster, store::warehouse& nodes, policy::engine& engine, letters to)
    : in_cluster_(in_cluster), nodes_(nodes), engine_(engine), to_(std::move(to)) {}

void label_router::do_wishes(instant now) {
  if (in_cluster_) {
    end_some(now);
    return send_some_wishes();
  }
  while (!waiting_.empty()) {
    const std::vector<store::node_id> nodes = take_waiting();
    for (const store::node_id node : nodes) show_dry_run(node);
    for (const store::node_id node : nodes) {
      if (!standalone_.apply(node, engine_.labels(node))) continue;
      engine_.set_node_labels(node, standalone_.of(node), now);
      to_.carried(node, nodes_.name(node), standalone_.of(node));
    }
  }
}

std::vector<store::node_id> label_router::take_waiting() {
  std::vector<store::node_id> nodes = std::exchange(waiting_, {});
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::erase_if(nodes, [this](store::node_id n) { return !nodes_.known(n); });
  return nodes;
}

std::size_t label_router::show_dry_run(store::node_id node) {
  label_map would;
  for (auto& [key, wish] : engine_.would_be_labels(node)) {
    if (wish.what == policy::label_wish::action::set) would.emplace(key, wish.value);
  }
  const std::size_t looked_at = would.size();
  const auto at = would_be_.find(node);
  if (at == would_be_.end() ? would.empty() : at->second == would) return looked_at;
  if (would.empty()) {
    would_be_.erase(at);
  } else {
    would_be_[node] = would;
  }
  to_.would_be(node, nodes_.name(node), std::move(would));
  return looked_at;
}

/// Those of some nodes; the next call goes on behind them. An edit of a policy with many keys changes the
/// wishes of every node, and agents' values wait for this loop.
void label_router::send_some_wishes() {
  std::vector<store::node_id> nodes = take_waiting();
  std::rotate(nodes.begin(), std::lower_bound(nodes.begin(), nodes.end(), next_), nodes.end());
  std::vector<node_wishes> news;
  std::size_t wished = 0, i = 0;
  for (; i < nodes.size() && wished < most_at_once; ++i) {
    wished += 1 + show_dry_run(nodes[i]);
    const auto at = objects_.find(nodes_.name(nodes[i]));
    if (at == objects_.end()) continue;
    policy::label_wishes wishes = engine_.labels(nodes[i]);
    wished += wishes.size();
    if (at->second.sent == wishes) continue;
    at->second.sent = wishes;
    news.push_back({at->first, std::move(wishes)});
  }
  if (i < nodes.size()) next_ = nodes[i];
  waiting_.assign(nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes.end());
  if (!news.empty()) to_.wishes(std::move(news));
}

void label_router::add_node(store::node_id node, const std::string& name, instant now) {
  const auto at = objects_.find(name);
  if (at == objects_.end()) return;
  engine_.set_node_labels(node, at->second.labels, now);
  engine_.set_taken_keys(node, at->second.taken, now);
  relabel(node);
}

bool label_router::keeps(const std::string& name) const {
  const auto at = objects_.find(name);
  return at != objects_.end() && !at->second.labels.empty();
}

void label_router::forget_nodes(const std::vector<store::warehouse::gone_node>& gone, instant now) {
  for (const auto& n : gone) {
    engine_.node_gone(n.id, now);
    standalone_.forget(n.id);
    would_be_.erase(n.id);
  }
}

std::string label_router::uid(const std::string& name) const {
  if (const auto at = objects_.find(name); at != objects_.end()) return at->second.uid;
  const auto recalled = recalled_uids_.find(name);
  return recalled == recalled_uids_.end() ? std::string() : recalled->second;
}

void label_router::recall(store::node_id node, const label_map& labels, const std::string& uid, instant now) {
  if (in_cluster_ && !uid.empty()) recalled_uids_[nodes_.name(node)] = uid;
  if (in_cluster_ || labels.empty()) return;
  standalone_.recall(node, labels);
  engine_.set_node_labels(node, labels, now);
  to_.carried(node, nodes_.name(node), labels);
}

void label_router::set_labels(const std::vector<node_labels>& nodes, instant now) {
  for (const node_labels& n : nodes) {
    const auto id = nodes_.find(n.node);
    const std::string before = uid(n.node);
    recalled_uids_.erase(n.node);
    if (!n.labels) {
      objects_.erase(n.node);
      if (id) end_node(*id, now);
      continue;
    }
    object& known = objects_[n.node];
    if (!before.empty() && !n.uid.empty() && before != n.uid) {
      known.sent.reset();
      if (id) end_node(*id, now);
    }
    known.uid = n.uid;
    known.labels = *n.labels;
    tell_engine(n.node, known, now);
  }
}

void label_router::all_told(instant now) {
  recalled_uids_.clear();
  engine_.all_nodes_told();
  end_until_ = nodes_.ids_given();
  end_some(now);
}

/// Some in each turn: each strategy has a state of each node.
void label_router::end_some(instant now) {
  for (std::size_t left = most_ended_at_once; left > 0 && end_next_ < end_until_; ++end_next_) {
    const store::node_id id{end_next_};
    if (!nodes_.known(id) || objects_.contains(nodes_.name(id))) continue;
    end_node(id, now);
    --left;
  }
}

/// It gives back its slots. An agent that goes on makes it known again with its next value.
void label_router::end_node(store::node_id node, instant now) {
  engine_.node_gone(node, now);
  to_.gone(node);
  to_.carried(node, nodes_.name(node), {});
}

void label_router::set_taken_keys(std::vector<node_taken> nodes, instant now) {
  for (node_taken& n : nodes) {
    const auto at = objects_.find(n.node);
    if (at == objects_.end()) continue;
    at->second.taken = std::move(n.keys);
    if (const auto id = nodes_.find(n.node)) engine_.set_taken_keys(*id, at->second.taken, now);
  }
}

/// A node that carries labels is known from then on, also before its agent comes, so that they count for
/// maxNodes.
void label_router::tell_engine(const std::string& name, const object& known, instant now) {
  auto id = nodes_.find(name);
  if (!id && known.labels.empty()) return;
  if (!id) {
    const auto made = nodes_.node(name);
    if (made.has_error()) return;  // too many nodes, which the ingest says
    nodes_.set_linked(*made, false, now);
    id = *made;
  }
  engine_.set_node_labels(*id, known.labels, now);
  engine_.set_taken_keys(*id, known.taken, now);
  to_.carried(*id, name, known.labels);
  relabel(*id);
}

}  // namespace binnacle::labels
