#include "common/text/first_few.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace binnacle {

std::string first_few(std::span<const std::string> words, std::size_t most, std::size_t count) {
  const auto shown = words.first(std::min(words.size(), most));
  return count > shown.size() ? fmt::format("{} and {} more", fmt::join(shown, ", "), count - shown.size())
                              : fmt::format("{}", fmt::join(shown, ", "));
}

std::string first_few(std::span<const std::string> words, std::size_t most) {
  return first_few(words, most, words.size());
}

}  // namespace binnacle
