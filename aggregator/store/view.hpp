#pragma once

#include "aggregator/policy/published.hpp"
#include "aggregator/store/row.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
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
  std::shared_ptr<const row> cells;  ///< null until its first catalogue
  std::vector<wire::source_status> sources;
  std::map<std::string, std::string> labels;  ///< those our policies put on it

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
  std::shared_ptr<const row> cells;  ///< null: unchanged
  std::optional<std::vector<wire::source_status>>
      sources;  ///< by source: replaces the status of those it names
};

struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>{}(s); }
};

/// Everything the faces read: nodes, cells, policies, verdicts. It belongs to the faces loop and is touched
/// by no other thread; the ingest loop sends changes to it as messages (cells and verdicts themselves are
/// atomic and need none).
class view {
 public:
  const node_view* find(std::string_view name) const noexcept {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second.node.get();
  }
  /// The id of `name`, valid until the next change; the extender's inner loop.
  const node_id* id_of(std::string_view name) const noexcept {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &at->second.id;
  }
  /// All nodes in name order.
  const std::map<std::string, const node_view*, std::less<>>& nodes() const noexcept { return ordered_; }
  const policy::policy_table& policies() const noexcept { return *policies_; }

  // Messages from the ingest loop, run on the faces loop.
  node_view& node(node_id id, const std::string& name) {
    const auto at = by_name_.find(name);
    if (at != by_name_.end()) return *at->second.node;
    auto made = std::make_unique<node_view>();
    node_view& n = *made;
    n.id = id;
    n.name = name;
    ordered_.emplace(name, &n);
    by_name_.emplace(name, known{id, std::move(made)});
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
    if (u.cells) n.cells = std::move(u.cells);
    if (u.sources) {
      for (wire::source_status& status : *u.sources) {
        const auto at = std::find_if(n.sources.begin(), n.sources.end(),
                                     [&](const auto& s) { return s.source == status.source; });
        if (at == n.sources.end()) {
          n.sources.push_back(std::move(status));
        } else {
          *at = std::move(status);
        }
      }
    }
    return n;
  }
  void set_policies(std::shared_ptr<const policy::policy_table> p) { policies_ = std::move(p); }

 private:
  /// The id lies beside the name: a look-up of thousands of names then fetches nothing more for each.
  struct known {
    node_id id;
    std::unique_ptr<node_view> node;
  };
  boost::unordered_flat_map<std::string, known, text_hash, std::equal_to<>> by_name_;
  std::map<std::string, const node_view*, std::less<>> ordered_;
  std::shared_ptr<const policy::policy_table> policies_ = std::make_shared<policy::policy_table>();
};

}  // namespace binnacle::store
