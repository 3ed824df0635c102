#include "common/text/edit_distance.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace binnacle {
namespace {

constexpr std::size_t longest_compared = 300;

}  // namespace

// Only the cells of the table that can lead to a distance below `limit` are looked at: those next to its
// diagonal (Ukkonen, 1985).
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit, std::size_t& work) {
  const std::size_t longer = std::max(a.size(), b.size());
  if (longer > longest_compared || longer - std::min(a.size(), b.size()) >= limit) return limit;
  limit = std::min(limit, longer + 1);  // no distance is larger than `longer`
  std::array<std::size_t, longest_compared + 1> row;
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = std::min(j, limit);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t first = i < limit ? 1 : i - limit + 1, last = std::min(b.size(), i + limit - 1);
    const char letter = lowered(a[i - 1]);
    std::size_t diagonal = row[first - 1];
    std::size_t least = row[first - 1] = first == 1 ? std::min(i, limit) : limit;
    for (std::size_t j = first; j <= last; ++j) {
      const std::size_t replaced = diagonal + (letter == lowered(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1, limit});
      least = std::min(least, row[j]);
    }
    work -= std::min(work, last - first + 1);
    if (least >= limit) return limit;
  }
  return row[b.size()];
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  std::size_t any = std::numeric_limits<std::size_t>::max();
  return edit_distance(a, b, limit, any);
}

}  // namespace binnacle
