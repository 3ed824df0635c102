#pragma once

#include "aggregator/snapshot/snapshot.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace binnacle::aggregator {

/// Answers what store and engine ask of a snapshot: by column or strategy, and by the ids that nodes have in
/// this process. It knows only nodes that identify() has named. Threads: the ingest loop.
class recollection {
 public:
  recollection(snapshot s, duration shift) : all_(std::move(s)), shift_(shift) {}

  const snapshot& all() const noexcept { return all_; }
  /// From now on the snapshot's node at `place` is the node `id`.
  void identify(std::size_t place, store::node_id id) { places_[store::index(id)] = place; }

  /// What warehouse::save() wrote; none: nothing, or the column's name means something else now.
  std::optional<store::word_reader> column(const store::column_spec& spec, std::string_view meaning,
                                           store::node_id node) const;
  /// A snapshot of an older release says nothing of uids: there any will do.
  std::optional<policy::remembered_strategy> strategy(const policy::policy_key& key, std::string_view uid,
                                                      policy::strategy_kind kind) const;
  /// What power_learning::save() wrote; none: nothing.
  std::optional<store::word_reader> learned(store::node_id node) const;

 private:
  enum class section { columns, strategies };
  std::optional<store::word_reader> find(section which, std::size_t number, store::node_id node) const;

  snapshot all_;
  duration shift_;
  boost::unordered_flat_map<std::uint32_t, std::size_t> places_;  // of nodes, by id
};

}  // namespace binnacle::aggregator
