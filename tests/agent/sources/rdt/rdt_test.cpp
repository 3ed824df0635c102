#include "agent/sources/rdt/rdt.hpp"

#include "tests/agent/support.hpp"
#include "tests/support/full_pipe.hpp"
#include "tests/support/machine/resctrl_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace rdt_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::fake_clock;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

/// A machine with resctrl mounted, and the source that reads it.
struct machine {
  explicit machine(std::size_t most_groups = 64)
      : resctrl(root / "sys", {0, 1}),
        source({root / "sys", root / "proc", 1s, most_groups}, clock.source()) {
    resctrl.make_group("web");
    resctrl.make_group("web/mon_groups/db");
    resctrl.make_group("mon_groups/batch");
  }
  void read() { REQUIRE(source.read(out)); }
  void start() {
    REQUIRE(source.discover(out));
    read();
  }
  static metrics::label_set labels(const std::string& group, const std::string& domain) {
    const bool monitoring = group.find("/mon_groups/") != group.npos;
    return {{"group", group}, {"kind", monitoring ? "monitoring" : "control"}, {"domain", domain}};
  }
  std::string occupied(const std::string& group, const std::string& domain) {
    return shown(out, "rdt_llc_occupancy_bytes", labels(group, domain));
  }
  std::string moved(const std::string& group, const std::string& domain) {
    return shown(out, "rdt_memory_bandwidth_bytes_total", labels(group, domain));
  }
  std::string rate(const std::string& group, const std::string& domain) {
    return shown(out, "rdt_memory_bandwidth_bytes_per_second", labels(group, domain));
  }

  temp_folder root;
  resctrl_tree_writer resctrl;
  fake_clock clock;
  board out;
  rdt_source source;
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/rdt/rdt");

TEST_CASE("cache and bandwidth of every group and cache, with rates from the second read on") {
  machine m;
  m.resctrl.set("", 0, "llc_occupancy", "1048576");
  m.resctrl.set("web", 1, "mbm_total_bytes", "5000");
  m.resctrl.set("web/mon_groups/db", 1, "mbm_local_bytes", "300");
  m.start();
  CHECK(m.occupied("/", "0") == "1048576");
  CHECK(m.occupied("/mon_groups/batch", "1") == "0");
  CHECK(m.moved("/web", "1") == "5000");
  CHECK(m.rate("/web", "1") == "not_read_yet");
  m.resctrl.set("web", 1, "mbm_total_bytes", "9000");
  m.resctrl.set("web/mon_groups/db", 1, "mbm_local_bytes", "700");
  m.clock.now += 2s;
  m.read();
  CHECK(m.rate("/web", "1") == "2000");
  CHECK(m.rate("/web", "0") == "0");
  CHECK(shown(m.out, "rdt_memory_bandwidth_local_bytes_per_second", m.labels("/web/mon_groups/db", "1")) ==
        "200");
  CHECK(m.source.limitation().empty());
}

TEST_CASE("every series is one of METRICS.md, with its labels in order") {
  machine m;
  m.start();
  CHECK(m.out.live_series() == 4 * 2 * 5);
  agent::test::check_families(m.out);
}

TEST_CASE("a word in place of a number is absent with its reason, and breaks the rate") {
  machine m;
  m.start();
  struct row {
    const char* word;
    const char* reason;
  };
  for (const auto& r :
       {row{"Unavailable", "no_data"}, row{"Error", "no_data"}, row{"Unassigned", "not_running"},
        row{"x", "malformed"}, row{"-1", "malformed"}, row{"", "malformed"}}) {
    CAPTURE(r.word);
    m.resctrl.set("web", 0, "mbm_total_bytes", r.word);
    m.resctrl.set("web", 0, "llc_occupancy", r.word);
    m.clock.now += 1s;
    m.read();
    CHECK(m.occupied("/web", "0") == r.reason);
    CHECK(m.moved("/web", "0") == r.reason);
    CHECK(m.rate("/web", "0") == r.reason);
    CHECK(m.moved("/web", "1") == "0");
  }
  const auto found = m.source.probe();
  REQUIRE(found.size() == 2);
  CHECK(found[1].how == finding::grade::limited);
  CHECK(found[1].why.find("rdt_llc_occupancy_bytes /web control 0 (malformed)") != std::string::npos);
  m.resctrl.set("web", 0, "mbm_total_bytes", "100");
  m.clock.now += 1s;
  m.read();
  CHECK(m.rate("/web", "0") == "not_read_yet");
}

TEST_CASE("groups come and go within seconds") {
  machine m;
  m.start();
  m.resctrl.remove_group("web");
  m.resctrl.make_group("pod7");
  m.clock.now += 10s;
  m.read();
  CHECK(m.occupied("/web", "0") == "no such series");
  CHECK(m.occupied("/web/mon_groups/db", "0") == "no such series");
  CHECK(m.occupied("/pod7", "0") == "0");
  CHECK(m.occupied("/", "0") == "0");
}

TEST_CASE("what the CPU does not count is not announced") {
  machine m;
  m.resctrl.remove_event("mbm_local_bytes");
  m.start();
  CHECK(shown(m.out, "rdt_memory_bandwidth_local_bytes_total", m.labels("/", "0")) == "no such series");
  CHECK(m.moved("/", "0") == "0");
  CHECK(m.source.probe().at(0).what == "llc_occupancy, mbm_total_bytes, in 4 groups and 2 L3 caches");
}

TEST_CASE("groups beyond the bound are left out and named") {
  machine m(2);
  m.start();
  CHECK(m.occupied("/web", "0") == "0");
  CHECK(m.occupied("/mon_groups/batch", "0") == "no such series");
  CHECK(m.source.limitation().find("2 groups of resctrl are left out") == 0);
  const auto found = m.source.probe();
  CHECK(found.at(0).how == finding::grade::limited);
  CHECK(found.at(0).remedy.find("rdt-groups") != std::string::npos);
}

TEST_CASE("folders of other kinds beside the caches are passed over") {
  machine m;
  m.root.write("sys/fs/resctrl/mon_data/mon_PERF_PKG_00/core_energy", "1.5\n");
  m.root.write("sys/fs/resctrl/mon_data/mon_L3_00/mon_sub_L3_00/llc_occupancy", "7\n");
  m.start();
  CHECK(m.out.live_series() == 4 * 2 * 5);
}

TEST_CASE("unmounted while it is read, the source fails, and works again when it is back") {
  machine m;
  m.start();
  std::filesystem::rename(m.root / "sys/fs/resctrl", m.root / "sys/fs/aside");
  std::filesystem::create_directories(m.root / "sys/fs/resctrl");
  m.clock.now += 10s;
  const auto failed = m.source.read(m.out);
  REQUIRE(!failed);
  CHECK(failed.error().message.find("is not mounted: mount -t resctrl") != std::string::npos);
  CHECK(!m.source.discover(m.out));
  CHECK(!m.source.read(m.out));
  std::filesystem::remove(m.root / "sys/fs/resctrl");
  std::filesystem::rename(m.root / "sys/fs/aside", m.root / "sys/fs/resctrl");
  m.start();
  CHECK(m.occupied("/", "0") == "0");
}

TEST_CASE("where there is nothing to read the probe says why and what to do") {
  temp_folder root;
  const auto probe = [&] {
    const auto found = rdt_source({root / "sys", root / "proc"}).probe();
    REQUIRE(found.size() == 1);
    CHECK(!found[0].remedy.empty());
    return found[0];
  };
  SUBCASE("a CPU without CMT and MBM") {
    root.write("proc/cpuinfo", "processor : 0\nflags : fpu sse avx\n");
    const auto f = probe();
    CHECK(f.how == finding::grade::absent);
    CHECK(f.why.find("this CPU cannot monitor") == 0);
  }
  SUBCASE("a kernel without resctrl") {
    root.write("proc/cpuinfo", "flags : fpu cqm_llc cqm_occup_llc cqm_mbm_total\n");
    const auto f = probe();
    CHECK(f.how == finding::grade::absent);
    CHECK(f.why.find("CONFIG_X86_CPU_RESCTRL") != std::string::npos);
  }
  SUBCASE("not mounted") {
    root.write("proc/cpuinfo", "flags : fpu cqm_llc cqm_occup_llc\n");
    std::filesystem::create_directories(root / "sys/fs/resctrl");
    const auto f = probe();
    CHECK(f.how == finding::grade::broken);
    CHECK(f.remedy.find("mount -t resctrl resctrl /sys/fs/resctrl") == 0);
  }
  // Before, the agent waited at the pipe for ever, and with it all sources.
  SUBCASE("a cpuinfo that is a pipe is not read") {
    std::filesystem::create_directories(root / "proc");
    const full_pipe cpuinfo(root / "proc/cpuinfo", "flags : fpu sse avx\n");
    CHECK(probe().why.find("CONFIG_X86_CPU_RESCTRL") != std::string::npos);
  }
  SUBCASE("mounted without monitoring") {
    root.write("sys/fs/resctrl/info/L3/cbm_mask", "7ff\n");
    CHECK(probe().why.find("monitors nothing") != std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace rdt_test
