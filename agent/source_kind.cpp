#include "agent/source_kind.hpp"

#include "agent/sources/foreign_series.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace binnacle::agent {

void add_period(config_spec& spec, std::string_view name, duration& own, duration most) {
  spec.add_or_zero(fmt::format("{}-period", name), own, std::chrono::milliseconds(20), most,
                   fmt::format("time between two reads of {}; 0s: period", name));
}

std::vector<std::unique_ptr<source>> make_sources(const source_kinds& kinds, const settings& s,
                                                  const logger& log) {
  const source_parts with{log, std::make_shared<foreign_names>()};
  std::vector<std::unique_ptr<source>> made;
  for (const auto& kind : kinds) {
    if (!kind->wanted(s)) continue;
    if (auto one = kind->make(s, with)) made.push_back(std::move(one));
  }
  return made;
}

std::vector<source_findings> findings_of_unmade(const source_kinds& kinds, const settings& s) {
  const bool chosen = s.sources != usual_names(kinds);
  const source_parts with{logger("probe", log_level::off), std::make_shared<foreign_names>()};
  std::vector<source_findings> all;
  for (const auto& kind : kinds) {
    const bool told = kind->wanted(s) ? kind->make(s, with) == nullptr : !chosen;
    if (!told) continue;
    if (auto found = kind->why_not_made(); !found.empty())
      all.push_back({std::string(kind->name()), std::move(found)});
  }
  return all;
}

std::vector<std::string> offered_names(const source_kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) {
    if (kind->offered()) names.emplace_back(kind->name());
  }
  return names;
}

std::vector<std::string> usual_names(const source_kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) {
    if (kind->offered() && kind->usual()) names.emplace_back(kind->name());
  }
  return names;
}

}  // namespace binnacle::agent
