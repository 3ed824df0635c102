#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
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
    return count_ > 1 ? fmt::format("{}{}{} problems more)", first_, and_more, count_ - 1)
                      : std::move(first_);
  }

  /// A sentence without the number of the others, which may change all the time.
  static std::string_view first_of(std::string_view sentence) {
    return sentence.substr(0, sentence.find(and_more));
  }

 private:
  static constexpr std::string_view and_more = " (and ";
  std::string first_;
  std::size_t count_ = 0;
};

}  // namespace binnacle::agent
