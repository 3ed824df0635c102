#include "agent/sources/pmu/pfm_events.hpp"

#include "agent/sources/pmu/event_finder.hpp"
#include "tests/support/machine/own_sys.hpp"
#include "tests/support/machine/pmu_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/utsname.h>

namespace pfm_events_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;

namespace {

/// Lets libpfm4 encode for PMUs that this machine does not have.
struct every_table {
  every_table() { ::setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); }
  ~every_table() { ::unsetenv("LIBPFM_ENCODE_INACTIVE"); }
};

/// libpfm4 is built with the tables of its own architecture alone (its config.mk). Elsewhere a test says that
/// it skips.
bool has_tables_of_x86() {
  utsname machine{};
  const bool has = ::uname(&machine) == 0 && std::string_view(machine.machine) == "x86_64";
  if (!has) MESSAGE("skipped: libpfm4 knows Xeons and EPYCs on x86 alone");
  return has;
}

}  // namespace

TEST_SUITE_BEGIN("agent/sources/pmu/pfm_events");

TEST_CASE("the kernel's software events are always there") {
  const pfm_events library;
  CHECK(library.encode("perf::CONTEXT-SWITCHES").value().encoding == perf_encoding{.type = 1, .config = 3});
  CHECK_FALSE(library.encode("perf::PAGE-FAULTS").value().outside_cores);
  CHECK(std::ranges::count(library.names(), "perf::PAGE-FAULTS") == 1);
  CHECK(library.encode("no_such_event").error().code == errc::not_found);
  CHECK(library.encode("").error().code != errc::internal);
}

// Recorded from libpfm4 4.13.0 (Debian 12), with LIBPFM_ENCODE_INACTIVE=1.
TEST_CASE("events of Xeons and EPYCs get the numbers of their makers' manuals") {
  if (!has_tables_of_x86()) return;
  const every_table tables;
  const pfm_events library;
  struct row {
    const char* name;
    std::uint64_t config, config1;
  };
  const row rows[] = {
      {"skx::INST_RETIRED:ANY_P", 0xc0, 0},
      {"skx::L2_RQSTS:MISS", 0x3f24, 0},
      {"skx::OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_MISS", 0x1b7, 0x3f84000001},
      {"icx::INST_RETIRED:ANY_P", 0xc0, 0},
      {"spr::MEM_LOAD_RETIRED:L3_MISS", 0x20d1, 0},
      {"spr::TOPDOWN:SLOTS", 0x400, 0},
      {"amd64_fam19h_zen3::RETIRED_INSTRUCTIONS", 0xc0, 0},
  };
  for (const row& r : rows) {
    CAPTURE(r.name);
    const auto got = library.encode(r.name);
    REQUIRE(got.has_value());
    CHECK(got->encoding == perf_encoding{.type = 4, .config = r.config, .config1 = r.config1});
    CHECK_FALSE(got->outside_cores);
  }
  CHECK(library.encode("icx::INST_RETIRED").error().code == errc::invalid_input);
  CHECK(library.encode("skx::CPU_CLK_UNHALTED:THREAD").error().code == errc::invalid_input);
}

// libpfm4 itself looks for such PMUs in /sys, so each test has a /sys of its own. A test that used this
// machine's /sys failed if the kernel shows the PMU `power`.
TEST_CASE("an event outside the cores is refused without its driver instead of counting another one") {
  if (!has_tables_of_x86()) return;
  const every_table tables;
  temp_folder sys;
  write_pmu_tree(sys.path(), pmus::virtual_machine());
  const auto ended = run_with_sys(sys.path(), [] {
    const pfm_events library;
    // The library gives it type 4, which is a raw event of the cores.
    const auto energy = library.encode("rapl::RAPL_ENERGY_PKG");
    if (energy || energy.error().code != errc::unsupported) return 1;
    return library.encode("skx_unc_imc0::UNC_M_CAS_COUNT:RD") ? 2 : 0;
  });
  if (!ended) {
    MESSAGE("skipped: no mount namespace can be made here");
    return;
  }
  CHECK(*ended == 0);
}

TEST_CASE("where the kernel shows the box, libpfm4's name is counted on its CPUs") {
  if (!has_tables_of_x86()) return;
  const every_table tables;
  temp_folder sys;
  write_pmu_tree(sys.path(), pmus::xeon());
  const auto ended = run_with_sys(sys.path(), [] {
    const event_finder finder(find_pmu_devices("/sys"));
    const auto reads = finder.find("skx_unc_imc0::UNC_M_CAS_COUNT:RD");
    if (!reads || reads->size() != 1) return 1;
    if (reads->front().encoding != perf_encoding{.type = 21, .config = 0x304}) return 2;
    if (reads->front().cpus != std::vector<unsigned>{0, 2}) return 3;
    const auto energy = finder.find("rapl::RAPL_ENERGY_PKG");
    return energy && energy->front().encoding == perf_encoding{.type = 13, .config = 2} ? 0 : 4;
  });
  if (!ended) {
    MESSAGE("skipped: no mount namespace can be made here");
    return;
  }
  CHECK(*ended == 0);
}

TEST_SUITE_END();

}  // namespace pfm_events_test
