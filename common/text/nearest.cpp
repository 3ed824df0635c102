#include "common/text/nearest.hpp"

#include "common/text/edit_distance.hpp"

#include <algorithm>
#include <limits>

namespace binnacle {
namespace {

constexpr std::size_t longest = 100;  // nobody means a known word with a longer one
constexpr std::size_t work_of_a_look = 8;

/// How many letters may differ, and one more.
constexpr std::size_t too_many(std::size_t letters) { return std::max<std::size_t>(2, letters / 3) + 1; }

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known,
                         std::size_t& work) {
  if (word.empty() || word.size() > longest) return {};
  std::string_view best;
  std::size_t least = too_many(word.size());
  for (const std::string_view candidate : known) {
    work -= std::min(work, work_of_a_look);
    const std::size_t d = edit_distance(word, candidate, least, work);
    if (work == 0) return {};
    if (d < least && d < candidate.size()) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::size_t any = std::numeric_limits<std::size_t>::max();
  return nearest(word, known, any);
}

}  // namespace binnacle
