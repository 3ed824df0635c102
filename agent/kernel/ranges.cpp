#include "agent/kernel/ranges.hpp"

#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

namespace binnacle::agent {
namespace {

std::optional<unsigned> number_up_to(unsigned most, std::string_view text) {
  const auto value = read_number<unsigned>(text);
  return value && *value <= most ? value : std::nullopt;
}

}  // namespace

std::optional<std::vector<number_range>> parse_ranges(std::string_view text, unsigned most) {
  text = trimmed(text);
  std::vector<number_range> out;
  for (;;) {
    const auto comma = text.find(',');
    const auto range = text.substr(0, comma);
    const auto dash = range.find('-');
    const auto first = number_up_to(most, range.substr(0, dash));
    const auto last = dash == range.npos ? first : number_up_to(most, range.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    out.push_back({*first, *last});
    if (comma == text.npos) return out;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace binnacle::agent
