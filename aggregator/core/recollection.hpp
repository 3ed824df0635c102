#pragma once

#include "aggregator/snapshot/kept_state.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::aggregator {

/// Answers what store and engine ask of the states that the core goes on from: by column or strategy, and by
/// the ids that nodes have in this process. Each node is of one state, and only nodes that identify() has
/// named are known. Threads: the ingest loop.
class recollection {
 public:
  explicit recollection(std::vector<kept_state> states)
      : states_(std::move(states)), nodes_of_(states_.size()) {}

  const std::vector<kept_state>& states() const noexcept { return states_; }
  const snapshot::node& node(kept_node at) const noexcept { return states_[at.state].all.nodes[at.node]; }
  /// From now on this node of a state is the node `id`.
  void identify(kept_node at, store::node_id id) {
    places_[store::index(id)] = at;
    ++nodes_of_[at.state];
  }
  /// From now on nothing is known of strategies at the node: its Node object is gone, or is another one.
  void begin_anew(store::node_id id) { anew_.insert(store::index(id)); }
  /// Frees the memory of nodes that identify() has not named.
  void drop_others();
  /// Frees the memory of policies: all that are there are known by now.
  void drop_policies();

  /// What warehouse::save() wrote; none: nothing, or the column's name means something else now.
  std::optional<store::word_reader> column(const store::column_spec& spec, std::string_view meaning,
                                           store::node_id node) const;
  /// A strategy of this object that any of the states has; a snapshot of an older release says nothing of
  /// uids, so there any will do. Where the states have different definitions of it, it is the one of the
  /// state with most nodes, and of the other states' nodes nothing is known. Its last label is the last one
  /// of all states. Whose the labels of the policy's name were, the first state says that knows it; where
  /// none has the strategy, that is all there is.
  std::optional<policy::remembered_strategy> strategy(const policy::policy_key& key, std::string_view uid,
                                                      policy::strategy_kind kind) const;
  /// What power_learning::save() wrote; none: nothing.
  std::optional<store::word_reader> learned(kept_node at) const;

 private:
  enum class section { columns, strategies };
  const kept_node* place_of(store::node_id node) const;
  std::optional<store::word_reader> find(section which, std::size_t number, kept_node at) const;

  std::vector<kept_state> states_;
  std::vector<std::size_t> nodes_of_;                           // how many are named, by state
  boost::unordered_flat_map<std::uint32_t, kept_node> places_;  // by id
  boost::unordered_flat_set<std::uint32_t> anew_;               // ids of nodes
};

}  // namespace binnacle::aggregator
