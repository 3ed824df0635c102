#include "common/text/nearest.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace binnacle {

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t longest = 100;  // nobody means a known word with a longer one
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  if (word.empty() || word.size() > longest) return {};
  const std::string meant = lowered(word);
  for (const std::string_view candidate : known) {
    const std::size_t d = edit_distance(meant, lowered(candidate));
    if (d < least && d < candidate.size()) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace binnacle
