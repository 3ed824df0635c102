#include "agent/sources/textfile/prom_file.hpp"

#include "common/exposition.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::agent {
namespace {

constexpr std::size_t most_help = 160;  // it travels with every catalogue

// Cut at a character's border.
std::string shortened(std::string_view help) {
  if (help.size() <= most_help) return std::string(help);
  auto end = most_help;
  while (end > 0 && (static_cast<unsigned char>(help[end]) & 0xc0u) == 0x80u) --end;
  return std::string(help.substr(0, end));
}

}  // namespace

std::string prom_series::key() const {
  auto sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  std::string key = name;
  for (const auto& [label, value] : sorted) {
    key += '\x1f';
    key += label;
    key += '=';
    key += value;
  }
  return key;
}

result<void> parse_prom(std::string_view text, const prom_bounds& bounds, std::vector<prom_series>& out,
                        std::string& note) {
  out.clear();
  std::size_t timestamps = 0;
  exposition::limits limits;
  limits.bytes = bounds.bytes;
  limits.series = bounds.series;
  const auto take = [&](const exposition::sample& s) {
    if (s.timestamp_ms) ++timestamps;
    out.push_back({std::string(s.name), s.labels, s.value, s.type, shortened(s.help)});
  };
  auto parsed = exposition::parse(text, limits, take);
  if (!parsed) {
    out.clear();
    return parsed;
  }
  if (timestamps > 0) {
    note = fmt::format("{} lines have a timestamp, which is ignored: the age counts from the reading",
                       timestamps);
  }
  return {};
}

}  // namespace binnacle::agent
