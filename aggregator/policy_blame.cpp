#include "aggregator/policy_blame.hpp"

#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace binnacle::aggregator {
namespace {

constexpr std::size_t most_blamed = 3;
// The sentence is an agent's. Each name in it is looked for among all rules, on a loop that others wait for.
constexpr std::size_t most_looked_for = 3;

/// What stands in quotes in a sentence of an agent that refuses a wish; nothing for other faults.
std::vector<std::string_view> names_in(const wire::fault& why) {
  std::vector<std::string_view> out;
  if (why.why != wire::reason::bad_message) return out;
  std::string_view rest = why.message;
  while (out.size() < most_looked_for) {
    const auto begin = rest.find('"');
    const auto end = begin == rest.npos ? rest.npos : rest.find('"', begin + 1);
    if (end == rest.npos) break;
    out.push_back(rest.substr(begin + 1, end - begin - 1));
    rest.remove_prefix(end + 1);
  }
  return out;
}

/// The first metric of the policy that is one of these; null if none is.
const std::string* first_of(const std::vector<std::string_view>& names, const policy::published_policy& p) {
  for (const policy::published_strategy& s : p.strategies) {
    for (const policy::published_rule& r : s.rules) {
      if (std::ranges::find(names, r.definition.metric) != names.end()) return &r.definition.metric;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<blamed> policies_behind(const wire::fault& why, const policy::policy_table& all) {
  std::vector<blamed> out;
  const auto names = names_in(why);
  if (names.empty()) return out;
  for (const auto& [key, published] : all) {
    if (const std::string* metric = first_of(names, *published)) out.push_back({key, *metric});
  }
  return out;
}

std::string blame_text(const std::vector<blamed>& those) {
  std::string out;
  for (std::size_t i = 0; i < std::min(those.size(), most_blamed); ++i)
    out += fmt::format("{}policy {} asks for {}", i == 0 ? "" : ", ", those[i].policy.text(),
                       in_quotes(those[i].metric));
  if (those.size() > most_blamed) out += fmt::format(", and {} more policies do", those.size() - most_blamed);
  return out;
}

std::string refusal_of_agents(const std::vector<ingest::repeated_end>& ends, const policy::policy_table& all,
                              const policy::policy_key& whose) {
  const auto it = all.find(whose);
  if (it == all.end()) return {};
  for (const ingest::repeated_end& e : ends) {
    const std::string* metric = first_of(names_in(e.why), *it->second);
    if (metric == nullptr) continue;
    return fmt::format("the sessions of {} end again and again over {}: {}; name another metric",
                       e.nodes.size() == 1 ? "1 node" : fmt::format("{} nodes", e.nodes.size()),
                       in_quotes(*metric), e.why.text());
  }
  return {};
}

}  // namespace binnacle::aggregator
