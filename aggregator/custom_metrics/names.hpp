#pragma once

#include "aggregator/store/view.hpp"
#include "aggregator/store/walk.hpp"
#include "common/metrics/alias_table.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::custom_metrics {

/// The metric names that nodes can be asked for: the families a node agent can emit, every family and flat
/// name that some node has announced, these names without a leading "node_", and the aliases that resolve to
/// one of them. Once made it is never empty. It is made in steps of bounded work, because an agent may
/// announce thousands of other names each second. A step costs nothing while catalogs and aliases stay the
/// same. Otherwise the steps look at each node, and at the names of each catalog that is new or gone. Pods
/// that come and go change no names.
class name_list {
 public:
  /// At most this many are listed: all that a node agent can emit, then names that several nodes have, then
  /// the others, in byte order. What is left out can still be asked for by name.
  static constexpr std::size_t most = 5'000;
  /// So many foreign families of one catalog are counted, so many names of our own families' series, and so
  /// many of foreign series. More would take longer, and would only push out what other nodes have.
  static constexpr std::size_t most_of_a_kind = 1'000;
  /// A step ends when it has handled so many names and nodes, about a millisecond's work, and what belongs to
  /// the last of them.
  static constexpr std::uint64_t per_step = 500;

  /// Both must outlive the list.
  explicit name_list(const store::view& nodes,
                     const metrics::names_in_force& names = metrics::names_in_force::built_in());
  name_list(const name_list&) = delete;
  name_list& operator=(const name_list&) = delete;

  /// Goes on making the list. False: names() has what nodes had when view::catalogs() was `wanted`, or later,
  /// with the aliases in force now. A caller takes that number when it is asked, so that nodes that announce
  /// without end do not keep it waiting. Several callers may take turns.
  bool step(std::uint64_t wanted);
  /// As last made, in byte order, each once. Never null; empty before the first list is made.
  const std::shared_ptr<const std::vector<std::string>>& names() const noexcept { return names_; }
  /// Changes whenever names() does.
  std::uint64_t revision() const noexcept { return revision_; }
  /// How many names and nodes the steps have handled so far, as a measure of the cost.
  std::uint64_t handled() const noexcept { return handled_; }

 private:
  using kind = std::shared_ptr<const store::shape::name_parts>;  // kept so that no address is reused
  /// How many nodes are of a kind by the present look, and what its names count in uses_.
  struct kind_uses {
    int nodes = 0;
    int counted = 0;
  };
  /// A kind whose names count more now, or less. Aliases stay the same meanwhile, so the same names go that
  /// have come.
  struct recount {
    kind of;
    int by;
    std::size_t family = 0, series = 0;  // the next ones
    std::size_t families_left = most_of_a_kind, own_left = most_of_a_kind, foreign_left = most_of_a_kind;
  };

  void begin();
  bool look(std::uint64_t enough);
  bool count_kinds(std::uint64_t enough);
  bool go_on(recount& r, std::uint64_t enough);
  bool make_list(std::uint64_t enough);
  void count_family(std::string_view name, int by);
  void count(std::string_view name, std::int64_t by);

  const store::view& nodes_;
  const metrics::names_in_force& in_force_;
  std::shared_ptr<const metrics::alias_table> table_;  // what everything below was made with
  std::unordered_multimap<std::string_view, const metrics::alias*> aliases_;  // by family
  std::unordered_map<kind, kind_uses> seen_;
  std::map<std::string, std::int64_t, std::less<>> uses_;  // by names: kinds of one node count 1, others 2
  std::map<std::int64_t, std::size_t, std::greater<>> by_uses_;  // how many names have so many uses
  bool changed_ = true;

  // What is under way: a look at the nodes, then recounts, then a new list.
  std::optional<store::walk> place_;  // none: nothing is
  std::uint64_t looked_as_of_ = 0;
  bool looking_ = false;
  std::deque<recount> recounts_;
  std::shared_ptr<std::vector<std::string>> making_;
  std::map<std::string, std::int64_t, std::less<>>::const_iterator next_;
  std::int64_t least_uses_ = 0;  // names with fewer uses are not listed
  std::size_t room_at_least_ = 0;

  std::uint64_t as_of_ = 0;  // store::view::catalogs() when the look began that names_ was made of
  std::shared_ptr<const std::vector<std::string>> names_ = std::make_shared<std::vector<std::string>>();
  std::uint64_t revision_ = 0;
  std::uint64_t handled_ = 0;
};

/// Looks whether a metric of some name may have values: an agent can emit it, there is an alias of that name,
/// or some node has announced it now. It needs no list of names, so it costs the same whatever nodes
/// announce.
class name_search {
 public:
  /// `nodes` must outlive the search.
  name_search(const store::view& nodes, const metrics::alias_table& names, std::string_view metric);
  /// Looks at some hundred nodes more. False when found() is the answer.
  bool step();
  bool found() const noexcept { return found_; }

 private:
  bool announced_by(const store::shape& node) const noexcept;

  store::walk place_;
  std::string metric_;
  std::string otherwise_;  // metrics::resolved's
  bool found_;
};

}  // namespace binnacle::custom_metrics
