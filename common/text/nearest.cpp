#include "common/text/nearest.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace binnacle {
namespace {

constexpr std::size_t longest = 100;  // nobody means a known word with a longer one
constexpr std::size_t work_of_a_look = 8;

/// How many letters may differ, and one more.
constexpr std::size_t too_many(std::size_t letters) { return std::max<std::size_t>(2, letters / 3) + 1; }

/// The edit distance of two words if it is below `limit`, else `limit`. `a` is in small letters and no longer
/// than `longest`. Only the cells of the table that can lead to a distance below `limit` are looked at:
/// those next to its diagonal (Ukkonen, 1985).
std::size_t distance_below(std::size_t limit, std::string_view a, std::string_view b, std::size_t& work) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= limit) return limit;
  std::array<std::size_t, longest + too_many(longest) + 1> row;
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = std::min(j, limit);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t first = i < limit ? 1 : i - limit + 1, last = std::min(b.size(), i + limit - 1);
    std::size_t diagonal = row[first - 1];
    std::size_t least = row[first - 1] = first == 1 ? std::min(i, limit) : limit;
    for (std::size_t j = first; j <= last; ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == lowered(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1, limit});
      least = std::min(least, row[j]);
    }
    work -= std::min(work, last - first + 1);
    if (least >= limit) return limit;
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known,
                         std::size_t& work) {
  if (word.empty() || word.size() > longest) return {};
  const std::string meant = lowered(word);
  std::string_view best;
  std::size_t least = too_many(word.size());
  for (const std::string_view candidate : known) {
    work -= std::min(work, work_of_a_look);
    const std::size_t d = distance_below(least, meant, candidate, work);
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
