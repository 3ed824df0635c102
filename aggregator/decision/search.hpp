#pragma once

#include "aggregator/decision/ring.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace binnacle::decision {

/// Finds decisions, newest first, piece by piece: to find a node, all candidates of all decisions may have to
/// be looked at, and there may be millions. Only decisions are found that are kept when it begins.
class search {
 public:
  /// `in` must outlive it.
  search(const ring& in, query q);

  /// Goes on, and looks at `looks` candidates or so (a decision counts as looks_of_a_decision). Whether there
  /// is more to look at.
  bool go_on(std::size_t looks);
  /// The ids of the decisions found so far. The ring may have dropped some of them since.
  const std::vector<std::uint64_t>& found() const noexcept { return found_; }

  static constexpr std::size_t looks_of_a_decision = 50;

 private:
  bool is_asked_for(const record& r) const;
  bool named_a_stranger(const record& r) const;
  void next(bool take);

  const ring& in_;
  const query query_;
  std::vector<bool> has_name_;  // by store::index(): the nodes of the name asked for
  std::uint64_t at_;            // the id of the decision to look at; 0: none is left
  std::size_t candidate_ = 0;   // the one of it to go on with
  std::vector<std::uint64_t> found_;
};

}  // namespace binnacle::decision
