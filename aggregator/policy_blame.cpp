#include "aggregator/policy_blame.hpp"

#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::aggregator {
namespace {

constexpr std::size_t most_blamed = 3;

}  // namespace

std::vector<blamed> policies_behind(const wire::fault& why, const policy::policy_table& all) {
  std::vector<blamed> out;
  if (why.why != wire::reason::bad_message) return out;
  for (const auto& [key, published] : all) {
    for (const policy::published_strategy& s : published->strategies) {
      const auto named = std::ranges::find_if(s.rules, [&](const policy::published_rule& r) {
        return why.message.find(in_quotes(r.definition.metric)) != std::string::npos;
      });
      if (named == s.rules.end()) continue;
      out.push_back({key, named->definition.metric});
      break;
    }
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
  for (const ingest::repeated_end& e : ends) {
    const auto behind = policies_behind(e.why, all);
    const auto its = std::ranges::find(behind, whose, &blamed::policy);
    if (its == behind.end()) continue;
    return fmt::format("the sessions of {} end again and again over {}: {}; name another metric",
                       e.nodes.size() == 1 ? "1 node" : fmt::format("{} nodes", e.nodes.size()),
                       in_quotes(its->metric), e.why.text());
  }
  return {};
}

}  // namespace binnacle::aggregator
