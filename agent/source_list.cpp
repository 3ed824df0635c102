#include "agent/source_list.hpp"

#include "agent/sources/bmc/bmc_kind.hpp"
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

}  // namespace binnacle::agent
