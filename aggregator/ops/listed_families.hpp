#pragma once

#include "aggregator/store/walk.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::ops {

/// Which families a page about all nodes has: all of our own, and at most `most_foreign` of exporters. One
/// node may announce ten thousand names, so nodes take turns: in each round every node adds one name that is
/// not in the list yet. A name that many nodes have is there after the first rounds, whatever one node
/// announces and whatever the node is called. Made in slices. Cost: a look at each name of each kind of
/// nodes.
class listed_families {
 public:
  /// Each of them is looked for at every node.
  static constexpr std::size_t most_foreign = 2'000;

  /// `nodes` must outlive it.
  explicit listed_families(const store::view& nodes) : place_(nodes) {}

  /// Works for about a millisecond. False: the list is complete.
  bool step();
  /// Our own families by name, then those of exporters, by turns.
  std::vector<std::string> take();
  /// Whether there are more families of exporters than the list has.
  bool some_left_out() const noexcept { return some_left_out_; }

 private:
  /// Nodes with the same names. They take their turns together: as many names in a round as there are nodes.
  struct kind {
    std::shared_ptr<const store::shape::name_parts> names;
    std::size_t nodes = 0;
    std::size_t next = 0;  // of names->families
  };

  void meet_nodes();
  bool take_turns();

  store::walk place_;
  bool met_all_ = false;
  std::vector<kind> kinds_;
  std::unordered_map<const store::shape::name_parts*, std::size_t> places_;  // in kinds_
  std::deque<std::size_t> turns_;  // of kinds_; those not at their end
  // Texts of our tables, and of the names that kinds_ hold.
  std::set<std::string_view> own_, listed_;
  std::vector<std::string_view> foreign_;
  bool some_left_out_ = false;
};

}  // namespace binnacle::ops
