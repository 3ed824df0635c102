#pragma once

#include "aggregator/decision/record.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::decision {

/// The names of the node ids that records mention, kept here so that a record can be read after its node has
/// left.
class node_names {
 public:
  /// Called in the extender's inner loop, so it only tests one bit if the node is known already.
  void learn(store::node_id id, std::string_view name) {
    const std::size_t i = store::index(id);
    if (i >= known_.size() || !known_[i]) keep(i, name);
  }
  /// Empty for an id never learnt.
  std::string_view name(store::node_id id) const noexcept {
    const std::size_t i = store::index(id);
    return i < names_.size() ? std::string_view(names_[i]) : std::string_view();
  }
  /// Which ids have this name, by store::index().
  std::vector<bool> named(std::string_view name) const {
    std::vector<bool> out(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) out[i] = names_[i] == name;
    return out;
  }

 private:
  void keep(std::size_t i, std::string_view name);  // apart, so that learn() is small enough to be inlined

  std::vector<bool> known_;  // by id: ids are dense
  std::vector<std::string> names_;
};

/// Selects decisions; empty members match all.
struct query {
  std::string pod;  ///< part of the name; with a '/', the beginning of "namespace/name"; or a whole pod UID
  std::string policy;    ///< "namespace/name" or a bare name
  std::string node;      ///< exact; decisions that had this node as a candidate
  std::string verb;      ///< "filter", "prioritize" or "preempt"
  std::uint64_t id = 0;  ///< this one alone
  std::size_t limit = 20;
};

struct ring_limits {
  std::size_t bytes = 32u << 20;
  std::size_t count = 50'000;
};

/// The latest decisions, bounded by bytes and count. The oldest are dropped first and counted. The facts of a
/// policy count once for all records that share them: whoever edits a policy between two pods makes new facts
/// for each record, and they may be thirty times its size. Belongs to the faces loop.
class ring {
 public:
  explicit ring(ring_limits limits = {}) : limits_(limits) {}

  /// Called with every decision when it is made, with all its candidates.
  void set_observer(std::function<void(const record&)> seen) { observer_ = std::move(seen); }

  /// Keeps `r` and gives it its id. A record larger than twice record_limit() keeps its totals but loses its
  /// candidates.
  std::uint64_t add(record r);
  /// The most bytes that one record's candidates should take. Whoever makes a record lists no more candidates
  /// than that.
  std::size_t record_limit() const noexcept { return limits_.bytes / 8; }

  /// The decision with this id, which is valid until the next add(); null if it is not kept. Ids have no
  /// gaps.
  const record* at(std::uint64_t id) const noexcept;
  /// Newest first, all in one go: for answers, see `search`. The pointers are valid until the next add().
  std::vector<const record*> find(const query& q) const;

  node_names& names() noexcept { return names_; }
  const node_names& names() const noexcept { return names_; }

  std::size_t size() const noexcept { return records_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }
  std::uint64_t total() const noexcept { return last_id_; }    ///< decisions ever made
  std::uint64_t dropped() const noexcept { return dropped_; }  ///< records that made room for newer ones
  std::uint64_t trimmed() const noexcept {
    return trimmed_;
  }  ///< records that lost their candidates for size

 private:
  void hold(const policy_facts* facts);
  void let_go(const policy_facts* facts);
  void drop_oldest();

  ring_limits limits_;
  std::function<void(const record&)> observer_;
  std::deque<record> records_;
  std::unordered_map<const policy_facts*, std::size_t> holders_;  // how many records share these facts
  std::size_t bytes_ = 0;                                         // of records_ and of holders_' facts
  std::uint64_t last_id_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t trimmed_ = 0;
  node_names names_;
};

}  // namespace binnacle::decision
