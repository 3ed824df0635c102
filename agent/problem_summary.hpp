#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

namespace binnacle::agent {

/// One sentence for a source with many parts of which some have a problem: the first problem, and how many
/// more there are.
class problem_summary {
 public:
  /// An empty sentence is no problem.
  void add(const std::string& problem) {
    if (!problem.empty() && count_++ == 0) first_ = problem;
  }

  /// Empty when nothing was added.
  std::string sentence() && {
    return count_ > 1 ? fmt::format("{} (and {} problems more)", first_, count_ - 1) : std::move(first_);
  }

 private:
  std::string first_;
  std::size_t count_ = 0;
};

}  // namespace binnacle::agent
