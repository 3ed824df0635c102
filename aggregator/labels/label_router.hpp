#pragma once

#include "aggregator/labels/messages.hpp"
#include "aggregator/labels/standalone_labels.hpp"
#include "aggregator/policy/engine/engine.hpp"
#include "aggregator/store/warehouse.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::labels {

/// Takes the engine's wishes for labels to where they are done. Without Kubernetes that is standalone_labels.
/// In a cluster it is node_label_sync on the faces loop, and a node's wishes are sent only after its Node
/// object has been read. Part of the core, on the ingest loop. Pure: time is given.
class label_router {
 public:
  struct letters {
    std::function<void(store::node_id, const std::string& name, label_map)> carried;
    /// What policies in DryRun would give.
    std::function<void(store::node_id, const std::string& name, label_map)> would_be;
    std::function<void(std::vector<node_wishes>)> wishes;
  };

  /// The references must outlive this.
  label_router(bool in_cluster, store::warehouse& nodes, policy::engine& engine, letters to);

  /// The engine names a node while it works; do_wishes() is for when it is done.
  void relabel(store::node_id node) { waiting_.push_back(node); }
  bool has_work() const noexcept { return !waiting_.empty(); }
  void do_wishes(instant now);

  /// An agent's node is there, maybe under a new id.
  void appeared(store::node_id node, const std::string& name, instant now);
  /// The node's object carries labels of ours: it has its places whether or not anything is heard from its
  /// agent, so the store must not forget it.
  bool keeps(const std::string& name) const;
  /// The store has forgotten these.
  void forgot(const std::vector<store::warehouse::gone_node>& gone, instant now);
  /// What Node objects carry now.
  void told(const std::vector<node_labels>& nodes, instant now);
  /// What others have there.
  void taken(std::vector<node_taken> nodes, instant now);

 private:
  struct object {
    label_map labels;
    policy::taken_keys taken;
    std::optional<policy::label_wishes> sent;
  };
  void tell_engine(const std::string& name, const object& known, instant now);
  void send_wishes(const std::vector<store::node_id>& nodes);
  void show_dry_run(store::node_id node);

  const bool in_cluster_;
  store::warehouse& nodes_;
  policy::engine& engine_;
  const letters to_;
  std::vector<store::node_id> waiting_;
  standalone_labels standalone_;
  std::map<store::node_id, label_map> would_be_;  // as last told, of nodes that have any
  std::map<std::string, object> objects_;
};

}  // namespace binnacle::labels
