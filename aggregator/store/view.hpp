#pragma once

#include "aggregator/policy/published.hpp"
#include "aggregator/store/row.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace binnacle::store {

/// What the faces know of one node.
struct node_view {
  node_id id{};
  std::string name;
  bool connected = false;
  instant last_seen{};  ///< when the last batch arrived
  std::string agent_version;
  std::string peer_address;
  std::shared_ptr<const row> cells;  ///< null until its first catalogue
  std::vector<wire::source_status> sources;
  std::map<std::string, std::string> labels;  ///< those our policies put on it
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
    return at == by_name_.end() ? nullptr : nodes_[at->second].get();
  }
  /// The id of `name`; the extender's inner loop.
  const node_id* id_of(std::string_view name) const noexcept {
    const node_view* n = find(name);
    return n == nullptr ? nullptr : &n->id;
  }
  /// All nodes in name order.
  const std::map<std::string, const node_view*, std::less<>>& nodes() const noexcept { return ordered_; }
  const policy::policy_table& policies() const noexcept { return *policies_; }

  // Messages from the ingest loop, run on the faces loop.
  node_view& node(node_id id, const std::string& name) {
    const auto at = by_name_.find(name);
    if (at != by_name_.end()) return *nodes_[at->second];
    nodes_.push_back(std::make_unique<node_view>());
    node_view& n = *nodes_.back();
    n.id = id;
    n.name = name;
    by_name_.emplace(name, nodes_.size() - 1);
    ordered_.emplace(name, &n);
    return n;
  }
  void set_policies(std::shared_ptr<const policy::policy_table> p) { policies_ = std::move(p); }

 private:
  std::vector<std::unique_ptr<node_view>> nodes_;
  boost::unordered_flat_map<std::string, std::size_t, text_hash, std::equal_to<>> by_name_;
  std::map<std::string, const node_view*, std::less<>> ordered_;
  std::shared_ptr<const policy::policy_table> policies_ = std::make_shared<policy::policy_table>();
};

}  // namespace binnacle::store
