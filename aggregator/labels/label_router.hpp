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

/// Brings the engine's wishes for labels to the part that carries them out, and tells the engine which labels
/// nodes carry. Without Kubernetes that part is standalone_labels. In a cluster it is node_label_sync on the
/// faces loop, and a node's wishes are sent only after its Node object has been read. Otherwise the engine
/// would wish without knowing the labels that are there, and a restart would take labels off and put them
/// back. Part of the core, on the ingest loop. Pure: time is given.
class label_router {
 public:
  struct letters {
    std::function<void(store::node_id, const std::string& name, label_map)> carried;
    /// What policies in DryRun would give.
    std::function<void(store::node_id, const std::string& name, label_map)> would_be;
    std::function<void(std::vector<node_wishes>)> wishes;
    /// There is no such Node object any more, or it is another one of that name: its strategies begin anew.
    std::function<void(store::node_id)> gone;
  };

  /// The references must outlive this.
  label_router(bool in_cluster, store::warehouse& nodes, policy::engine& engine, letters to);

  /// The engine calls this while it works, for each node whose wishes changed. Call do_wishes() when it is
  /// done.
  void relabel(store::node_id node) { waiting_.push_back(node); }
  /// True after do_wishes(), too, if there was too much for one turn.
  bool has_work() const noexcept { return !waiting_.empty() || end_next_ < end_until_; }
  void do_wishes(instant now);
  /// In a cluster a turn ends after about so many wishes: some milliseconds.
  static constexpr std::size_t most_at_once = 8'192;
  /// Nodes without a Node object that end in one turn.
  static constexpr std::size_t most_ended_at_once = 200;

  /// The store has this node now, maybe under a new id.
  void add_node(store::node_id node, const std::string& name, instant now);
  /// The Node object carries labels of ours. It then has slots of maxNodes even if its agent is silent, so
  /// the store must not forget the node.
  bool keeps(const std::string& name) const;
  /// How many Node objects there are, as far as this class was told.
  std::size_t objects() const noexcept { return objects_.size(); }
  /// The store has forgotten these.
  void forget_nodes(const std::vector<store::warehouse::gone_node>& gone, instant now);
  /// For a snapshot: the node's labels that no Node object holds. Empty in a cluster.
  const label_map& to_keep(store::node_id node) const { return standalone_.of(node); }
  /// For a snapshot: the uid of the Node object; empty if it is not known.
  std::string uid(const std::string& name) const;
  /// What to_keep() and uid() gave before a restart.
  void recall(store::node_id node, const label_map& labels, const std::string& uid, instant now);
  /// The labels of ours that Node objects carry now, for nodes where that changed.
  void set_labels(const std::vector<node_labels>& nodes, instant now);
  /// All Node objects have been told. Nodes that have none are gone: while we were down nobody said so.
  void all_told(instant now);
  /// The keys that others have set there, for nodes where that changed.
  void set_taken_keys(std::vector<node_taken> nodes, instant now);

 private:
  struct object {
    std::string uid;
    label_map labels;
    policy::taken_keys taken;
    std::optional<policy::label_wishes> sent;
  };
  void tell_engine(const std::string& name, const object& known, instant now);
  void end_node(store::node_id node, instant now);
  void end_some(instant now);
  std::vector<store::node_id> take_waiting();
  void send_some_wishes();
  std::size_t show_dry_run(store::node_id node);

  const bool in_cluster_;
  store::warehouse& nodes_;
  policy::engine& engine_;
  const letters to_;
  std::vector<store::node_id> waiting_;
  store::node_id next_{};                       // where the next turn begins, so that none waits for ever
  std::uint32_t end_next_ = 0, end_until_ = 0;  // ids that all_told() has still to look at
  standalone_labels standalone_;
  std::map<store::node_id, label_map> would_be_;  // as last told, of nodes that have any
  std::map<std::string, object> objects_;
  std::map<std::string, std::string> recalled_uids_;  // of nodes that have not been told yet
};

}  // namespace binnacle::labels
