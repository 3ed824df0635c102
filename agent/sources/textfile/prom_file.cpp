#include "agent/sources/textfile/prom_file.hpp"

#include "common/exposition/exposition.hpp"

#include <fmt/format.h>

namespace binnacle::agent {
result<void> parse_prom(std::string_view text, const prom_bounds& bounds, std::vector<foreign_series>& out,
                        std::string& note) {
  out.clear();
  std::size_t timestamps = 0;
  exposition::limits limits;
  limits.bytes = bounds.bytes;
  limits.series = bounds.series;
  const auto take = [&](const exposition::sample& s) {
    if (s.timestamp_ms) ++timestamps;
    out.push_back(foreign_series::from(s));
  };
  auto parsed = exposition::parse(text, limits, take);
  if (!parsed) {
    out.clear();
    return parsed;
  }
  if (timestamps > 0) {
    note = fmt::format("{} a timestamp, which is ignored: the age counts from the reading",
                       timestamps == 1 ? "1 line has" : fmt::format("{} lines have", timestamps));
  }
  return {};
}

}  // namespace binnacle::agent
