#pragma once

#include "aggregator/store/name_index.hpp"
#include "aggregator/store/row.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::store {

/// What the faces know of one node.
struct node_view {
  node_id id{};
  std::string name;
  bool connected = false;
  instant last_seen{};  ///< when its link last went up or down; see seen()
  std::string agent_version;
  std::string peer_address;
  std::shared_ptr<const row> cells;  ///< null until its first catalog
  std::vector<wire::source_status> sources;
  std::map<std::string, std::string> labels;    ///< those our policies put on it
  std::map<std::string, std::string> would_be;  ///< those that policies in DryRun would put on it
  std::string warning;  ///< how it differs oddly from similar nodes, one sentence; empty: it does not

  /// When anything was last heard from the node: batches write it to the row, not here, so that they need no
  /// message.
  instant seen() const noexcept { return cells ? std::max(last_seen, cells->last_batch()) : last_seen; }
};

/// What the ingest loop tells the faces about a node: posted to the faces loop, given to view::apply() there.
/// Only what is set changes.
struct node_update {
  node_id id{};
  std::string name;
  instant at{};  ///< when it happened; becomes last_seen when `connected` is set
  std::optional<bool> connected;
  std::optional<std::string> agent_version;
  std::optional<std::string> peer_address;
  std::shared_ptr<const row> cells;                         ///< null: unchanged
  std::optional<std::vector<wire::source_status>> sources;  ///< all of them: replaces the previous report
};

struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>{}(s); }
};

/// The nodes as the faces read them. It belongs to the faces loop and is touched by no other thread; the
/// ingest loop sends changes to it as messages (cells are atomic and need none).
class view {
 public:
  const node_view* find(std::string_view name) const noexcept {
    const node_id id = ids_.find(name);
    return id == name_index::none ? nullptr : nodes_[index(id)].get();
  }
  /// The ids of names; the extender's inner loop.
  const name_index& ids() const noexcept { return ids_; }
  /// All nodes in name order.
  const std::map<std::string, const node_view*, std::less<>>& nodes() const noexcept { return ordered_; }
  /// This number changes whenever a node may have a new catalog, and when a node is forgotten.
  std::uint64_t catalogs() const noexcept { return catalogs_; }

  // Messages from the ingest loop, run on the faces loop.
  node_view& node(node_id id, const std::string& name) {
    if (const node_id known = ids_.find(name); known != name_index::none) return *nodes_[index(known)];
    if (index(id) >= nodes_.size()) nodes_.resize(index(id) + 1);
    nodes_[index(id)] = std::make_unique<node_view>();
    node_view& n = *nodes_[index(id)];
    n.id = id;
    n.name = name;
    ordered_.emplace(name, &n);
    ids_.add(name, id);
    return n;
  }
  node_view& apply(node_update u) {
    node_view& n = node(u.id, u.name);
    if (u.connected) {
      n.connected = *u.connected;
      n.last_seen = std::max(n.last_seen, u.at);
    }
    if (u.agent_version) n.agent_version = std::move(*u.agent_version);
    if (u.peer_address) n.peer_address = std::move(*u.peer_address);
    if (u.cells) {
      n.cells = std::move(u.cells);
      ++catalogs_;
    }
    if (u.sources) n.sources = std::move(*u.sources);
    return n;
  }
  /// These nodes are no longer known. Their node_view is gone, their ids mean nothing.
  void forget(const std::vector<node_id>& gone) {
    for (const node_id id : gone) {
      if (index(id) >= nodes_.size() || nodes_[index(id)] == nullptr) continue;
      ordered_.erase(nodes_[index(id)]->name);
      nodes_[index(id)].reset();
    }
    ++catalogs_;
    // Names cannot be taken out of the index one by one.
    ids_ = {};
    for (const auto& [name, n] : ordered_) ids_.add(name, n->id);
  }

 private:
  std::vector<std::unique_ptr<node_view>> nodes_;  // by id: ids are dense
  name_index ids_;
  std::map<std::string, const node_view*, std::less<>> ordered_;
  std::uint64_t catalogs_ = 1;
};

}  // namespace binnacle::store
