#include "agent/source_list.hpp"

#include "agent/sources/bmc/bmc_kind.hpp"
#include "agent/sources/foreign_series.hpp"
#include "agent/sources/host/host_kind.hpp"
#include "agent/sources/os/os_kind.hpp"
#include "agent/sources/path/path_kind.hpp"
#include "agent/sources/pmu/pmu_kind.hpp"
#include "agent/sources/rapl/rapl_kind.hpp"
#include "agent/sources/rdt/rdt_kind.hpp"
#include "agent/sources/scrape/scrape_kind.hpp"
#include "agent/sources/textfile/textfile_kind.hpp"

namespace binnacle::agent {
namespace {

template <class... Kind>
source_kinds each() {
  source_kinds all;
  (all.push_back(std::make_unique<Kind>()), ...);
  return all;
}

}  // namespace

// A new source is a folder below sources/ and a name here.
source_kinds all_source_kinds() {
  return each<rapl_kind, os_kind, pmu_kind, pod_kind, bmc_kind, textfile_kind, scrape_kind, path_kind,
              rdt_kind, host_kind>();
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

}  // namespace binnacle::agent
