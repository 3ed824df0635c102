#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::agent {

/// One sentence for a source with many parts: the first problem, and how many more there are. Add problems
/// that cost values before mere remarks, because only the first one is shown.
class problem_summary {
 public:
  /// An empty sentence is no problem.
  void add(const std::string& problem) {
    if (!problem.empty() && count_++ == 0) first_ = problem;
  }

  /// Empty when nothing was added.
  std::string sentence() && {
    if (count_ <= 1) return std::move(first_);
    return fmt::format("{}{}{}{}", first_, and_more, count_ - 1, count_ == 2 ? one_more_end : many_more_end);
  }

  /// A message split into its text without the number of further problems, and that number, which may change
  /// often.
  struct outline {
    std::string text;
    std::size_t more = 0;
  };
  static outline outline_of(std::string_view message) {
    const auto at = message.find(and_more);
    if (at == message.npos) return {std::string(message), 0};
    const auto number = message.substr(at + and_more.size());
    outline out;
    const auto [end, bad] = std::from_chars(number.data(), number.data() + number.size(), out.more);
    auto rest = number.substr(static_cast<std::size_t>(end - number.data()));
    for (const auto words : {one_more_end, many_more_end}) {
      if (bad != std::errc{} || !rest.starts_with(words)) continue;
      rest.remove_prefix(words.size());
      out.text = fmt::format("{}{}", message.substr(0, at), rest);
      return out;
    }
    return {std::string(message), 0};
  }

 private:
  static constexpr std::string_view and_more = " (and ";
  static constexpr std::string_view one_more_end = " problem more)";
  static constexpr std::string_view many_more_end = " problems more)";
  std::string first_;
  std::size_t count_ = 0;
};

}  // namespace binnacle::agent
