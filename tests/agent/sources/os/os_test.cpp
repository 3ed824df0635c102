#include "agent/sources/os/os.hpp"

#include "tests/agent/support.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace os_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::fake_clock;
using agent::test::shown;
using support::temp_folder;
using namespace std::chrono_literals;

namespace {

/// A machine's /proc and /sys that a test fills, and the os source that reads them.
struct machine {
  machine() {
    stat(1000, 9000, 500);
    root.write("proc/loadavg", "0.50 0.40 0.30 2/90 123\n");
    root.write("proc/meminfo",
               "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 600 kB\nBuffers: 10 kB\nCached: 200 kB\n"
               "SReclaimable: 30 kB\nSUnreclaim: 40 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    root.write("proc/uptime", "3600.25 7000.00\n");
    for (const auto* r : {"cpu", "memory", "io"}) pressure(r, 1'000'000, 500'000);
    net({{"eth0", 5000}, {"lo", 9}, {"veth1", 77}});
    root.write("sys/class/net/eth0/device/vendor", "0x8086\n");
    root.write("sys/class/net/veth1/ifindex", "7\n");
    pool("sys/kernel/mm/hugepages/hugepages-2048kB", 10, 4);
    pool("sys/kernel/mm/hugepages/hugepages-1048576kB", 1, 1);
    pool("sys/devices/system/node/node1/hugepages/hugepages-2048kB", 6, 2);
    root.write("sys/devices/system/node/possible", "0-1\n");
  }

  void stat(int busy, int idle, int switches) {
    root.write("proc/stat", "cpu  " + std::to_string(busy) + " 0 0 " + std::to_string(idle) +
                                " 0 0 0 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\nctxt " + std::to_string(switches) +
                                "\nprocs_running 3\n");
  }
  void pressure(const std::string& resource, int some, int full) {
    root.write("proc/pressure/" + resource,
               "some avg10=0 avg60=0 avg300=0 total=" + std::to_string(some) +
                   "\nfull avg10=0 avg60=0 avg300=0 total=" + std::to_string(full) + "\n");
  }
  void net(const std::vector<std::pair<std::string, int>>& interfaces,
           const std::string& file = "proc/1/net/dev") {
    std::string text = "Inter-|   Receive\n face |bytes packets\n";
    for (const auto& [name, bytes] : interfaces) {
      text += "  " + name + ": " + std::to_string(bytes) + " 10 0 0 0 0 0 0 " + std::to_string(2 * bytes) +
              " 20 1 2 0 0 0 0\n";
    }
    root.write(file, text);
  }
  void pool(const std::string& folder, int pages, int free_pages) {
    root.write(folder + "/nr_hugepages", std::to_string(pages) + "\n");
    root.write(folder + "/free_hugepages", std::to_string(free_pages) + "\n");
  }
  os_source source(bool with_virtual = false) {
    os_options o;
    o.proc = root / "proc";
    o.sys = root / "sys";
    o.time = clock.source();
    o.virtual_interfaces = with_virtual;
    return os_source(std::move(o));
  }

  temp_folder root;
  fake_clock clock;
  board out;
};

const metrics::label_set eth0{{"device", "eth0"}, {"kind", "physical"}};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/os/source");

TEST_CASE("gauges come with the first read, rates and ratios with the second") {
  machine m;
  auto os = m.source();
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_cpu_seconds_total", {{"mode", "user"}}) == "10.00");
  CHECK(shown(m.out, "os_cpus") == "2");
  CHECK(shown(m.out, "os_load5") == "0.40");
  CHECK(shown(m.out, "os_memory_available_bytes") == "614400");
  CHECK(shown(m.out, "os_memory_used_bytes") == "634880");
  CHECK(shown(m.out, "os_hugepages_total_bytes", {{"size", "2048kB"}}) == std::to_string(10 * 2048 * 1024));
  CHECK(shown(m.out, "os_hugepages_free_bytes", {{"size", "1048576kB"}}) == std::to_string(1 << 30));
  CHECK(shown(m.out, "os_hugepages_pool_pages", {{"size", "2048kB"}}) == "10");
  CHECK(shown(m.out, "os_hugepages_free_pages", {{"size", "2048kB"}}) == "4");
  CHECK(shown(m.out, "os_numa_hugepages_free_bytes", {{"numa_node", "1"}, {"size", "2048kB"}}) ==
        std::to_string(2 * 2048 * 1024));
  CHECK(shown(m.out, "os_uptime_seconds") == "3600");
  CHECK(shown(m.out, "os_processes_running") == "3");
  CHECK(shown(m.out, "os_network_receive_bytes_total", eth0) == "5000");
  CHECK(shown(m.out, "os_pressure_stalled_seconds_total", {{"resource", "io"}}) == "0.500");
  CHECK(shown(m.out, "os_cpu_utilization_ratio") == "not_read_yet");
  CHECK(shown(m.out, "os_network_receive_bytes_per_second", eth0) == "not_read_yet");
  CHECK(shown(m.out, "os_pressure_waiting_ratio", {{"resource", "cpu"}}) == "not_read_yet");

  m.clock.now += 2s;
  m.stat(1100, 9100, 900);
  m.net({{"eth0", 7000}, {"lo", 9}});
  m.pressure("cpu", 1'500'000, 0);
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_cpu_utilization_ratio") == "0.5000");
  CHECK(shown(m.out, "os_context_switches_per_second") == "200");
  CHECK(shown(m.out, "os_network_receive_bytes_per_second", eth0) == "1000");
  CHECK(shown(m.out, "os_network_transmit_bytes_per_second", eth0) == "2000");
  CHECK(shown(m.out, "os_network_transmit_dropped_per_second", eth0) == "0");
  CHECK(shown(m.out, "os_pressure_waiting_ratio", {{"resource", "cpu"}}) == "0.2500");
  CHECK(os.limitation().empty());
}

TEST_CASE("every series is one of METRICS.md, with its labels in order") {
  machine m;
  auto os = m.source(true);
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  CHECK(m.out.live_series() > 60);
  agent::test::check_families(m.out);
}

TEST_CASE("the wire counts, pods' interfaces only when asked for, loopback never") {
  machine m;
  const metrics::label_set veth{{"device", "veth1"}, {"kind", "virtual"}};
  SUBCASE("default") {
    auto os = m.source();
    REQUIRE(os.discover(m.out));
    REQUIRE(os.read(m.out));
    CHECK(shown(m.out, "os_network_receive_bytes_total", veth) == "no such series");
  }
  SUBCASE("asked for") {
    auto os = m.source(true);
    REQUIRE(os.discover(m.out));
    REQUIRE(os.read(m.out));
    CHECK(shown(m.out, "os_network_receive_bytes_total", veth) == "77");
    CHECK(shown(m.out, "os_network_receive_bytes_total", {{"device", "lo"}, {"kind", "virtual"}}) ==
          "no such series");
  }
}

TEST_CASE("interfaces beyond the bound are counted and told, and read when there is room") {
  machine m;
  std::vector<std::pair<std::string, int>> many;
  for (int i = 0; i < 258; ++i) many.emplace_back("veth" + std::to_string(i), i + 1);
  m.net(many);
  auto os = m.source(true);
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  const metrics::label_set last{{"device", "veth257"}, {"kind", "virtual"}};
  CHECK(shown(m.out, "os_network_receive_bytes_total", last) == "no such series");
  CHECK(os.limitation().starts_with("2 network interfaces more than the 256 that are read"));
  many.emplace_back("vf\xff", 1);  // one more problem, which does not hide this one
  m.net(many);
  REQUIRE(os.read(m.out));
  CHECK(os.limitation().starts_with("2 network interfaces more than the 256 that are read"));
  CHECK(agent::test::holds(os.limitation(), "(and 1 problem more)"));
  many.pop_back();
  many.erase(many.begin(), many.begin() + 2);
  m.net(many);
  REQUIRE(os.read(m.out));  // the first two interfaces are forgotten
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_network_receive_bytes_total", last) == "258");
  CHECK(os.limitation().empty());
}

// A pod may name a virtual function that comes back to the host. Before, two such names were one on the
// board, and when one interface went, the other one wrote to series that others had got.
TEST_CASE("interfaces whose names are not UTF-8 are left out and told") {
  machine m;
  m.net({{"vf\xff", 7}, {"vf\xfe", 8}, {"eth0", 9}});
  auto os = m.source(true);
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  const metrics::label_set vf{{"device", "vf?"}, {"kind", "virtual"}};
  CHECK(shown(m.out, "os_network_receive_bytes_total", vf) == "no such series");
  CHECK(shown(m.out, "os_network_receive_bytes_total", eth0) == "9");
  CHECK(
      os.limitation().starts_with("each of 2 network interfaces is left out, because the name is not UTF-8"));
  m.net({{"vf\xfe", 8}, {"eth0", 9}});
  REQUIRE(os.read(m.out));
  CHECK(os.limitation().starts_with("a network interface is left out, because the name is not UTF-8"));
}

TEST_CASE("interfaces come and go without a new discovery") {
  machine m;
  auto os = m.source();
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  m.net({{"lo", 9}});
  m.clock.now += 1s;
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_network_receive_bytes_total", eth0) == "no such series");
  m.net({{"eth0", 5}});
  m.clock.now += 1s;
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_network_receive_bytes_total", eth0) == "5");
  CHECK(shown(m.out, "os_network_receive_bytes_per_second", eth0) == "not_read_yet");
}

TEST_CASE("a counter that falls has no rate until the next read") {
  machine m;
  auto os = m.source();
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  m.net({{"eth0", 100}});
  m.clock.now += 1s;
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_network_receive_bytes_total", eth0) == "100");
  CHECK(shown(m.out, "os_network_receive_bytes_per_second", eth0) == "reset");
  CHECK(shown(m.out, "os_network_receive_packets_per_second", eth0) == "0");
  m.net({{"eth0", 300}});
  m.clock.now += 1s;
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_network_receive_bytes_per_second", eth0) == "200");
}

TEST_CASE("a broken text makes its own series absent with a reason, the rest goes on") {
  machine m;
  auto os = m.source();
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  m.root.write("proc/meminfo", "nonsense\n");
  m.root.write("proc/stat", "");
  m.root.write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "many\n");
  m.clock.now += 1s;
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_memory_total_bytes") == "malformed");
  CHECK(shown(m.out, "os_cpu_utilization_ratio") == "malformed");
  CHECK(shown(m.out, "os_hugepages_free_bytes", {{"size", "2048kB"}}) == "malformed");
  CHECK(shown(m.out, "os_hugepages_total_bytes", {{"size", "2048kB"}}) == std::to_string(10 * 2048 * 1024));
  CHECK(shown(m.out, "os_load1") == "0.50");
  CHECK(os.limitation().find("/stat") != std::string::npos);

  m.stat(1100, 9100, 900);
  m.clock.now += 1s;
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_cpus") == "2");
  CHECK(shown(m.out, "os_cpu_utilization_ratio") == "malformed");  // no rate over what was not seen
  m.stat(1200, 9200, 900);
  m.clock.now += 1s;
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_cpu_utilization_ratio") == "0.5000");
}

// Before, the last utilization stayed for ever, always fresh.
TEST_CASE("CPU time that stands still gives no utilization after 10 s, until it moves") {
  machine m;
  auto os = m.source();
  REQUIRE(os.discover(m.out));
  const auto after = [&](duration time) {
    m.clock.now += time;
    REQUIRE(os.read(m.out));
    return shown(m.out, "os_cpu_utilization_ratio");
  };
  after(0s);
  m.stat(1100, 9100, 900);
  CHECK(after(1s) == "0.5000");
  CHECK(after(9s) == "0.5000");
  CHECK(os.limitation().empty());
  CHECK(after(1s) == "stands_still");
  CHECK(os.limitation().find("/stat has stood still for more than 10 s") != std::string::npos);
  CHECK(shown(m.out, "os_cpus") == "2");
  m.stat(1400, 9200, 900);
  CHECK(after(1s) == "0.7500");
  CHECK(os.limitation().empty());
}

TEST_CASE("more memory available than there is is not shown") {
  machine m;
  m.root.write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 500 kB\nMemAvailable: 1001 kB\n");
  auto os = m.source();
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_memory_available_bytes") == "implausible");
  CHECK(shown(m.out, "os_memory_total_bytes") == "1024000");
  m.root.write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 500 kB\nMemAvailable: 1000 kB\n");
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_memory_available_bytes") == "1024000");
}

TEST_CASE("what this kernel does not have is not announced and appears when it comes") {
  machine m;
  m.root.remove("proc/pressure");
  m.root.remove("sys/kernel");
  auto os = m.source();
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_pressure_waiting_ratio", {{"resource", "cpu"}}) == "no such series");
  CHECK(os.limitation().empty());
  m.pressure("cpu", 1, 1);
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_pressure_waiting_ratio", {{"resource", "cpu"}}) == "not_read_yet");
}

TEST_CASE("through a mounted host /proc the interfaces are those of process 1, or none") {
  machine m;
  m.net({{"eth0", 7}}, "proc/net/dev");  // our own
  m.net({{"eth0", 42}});
  std::string shows = "42";
  SUBCASE("it may be looked at") {}
  SUBCASE("it may not: hidepid") {
    m.root.remove("proc/1");
    shows = "no such series";
    const auto found = m.source().probe();
    CHECK(std::ranges::any_of(found, [](const finding& f) {
      return f.how != finding::grade::works && f.what.starts_with("network (") &&
             f.remedy.find("hidepid") != f.remedy.npos;
    }));
  }
  auto os = m.source();
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_network_receive_bytes_total", eth0) == shows);
}

TEST_CASE("the host's network may be mounted alone, beside our own /proc") {
  machine m;
  m.net({{"eth0", 7}});  // process 1 of our own
  m.net({{"eth0", 42}}, "host/net/dev");
  os_options o;
  o.proc = m.root / "proc";
  o.sys = m.root / "sys";
  o.net = m.root / "host/net";
  o.time = m.clock.source();
  std::string shows = "42";
  SUBCASE("it is there") {}
  SUBCASE("it is not: our own interfaces are not the node's") {
    m.root.remove("host/net");
    shows = "no such series";
    const auto found = os_source(o).probe();
    CHECK(std::ranges::any_of(found, [](const finding& f) {
      return f.how == finding::grade::absent && f.what.ends_with("host/net/dev)") &&
             f.remedy.find("proc-net") != f.remedy.npos;
    }));
  }
  os_source os(o);
  REQUIRE(os.discover(m.out));
  REQUIRE(os.read(m.out));
  CHECK(shown(m.out, "os_network_receive_bytes_total", eth0) == shows);
  CHECK(shown(m.out, "os_load1") == "0.50");
}

TEST_CASE("an empty root is an error that names it, not a crash") {
  temp_folder nothing;
  os_options o;
  o.proc = nothing / "proc";
  o.sys = nothing / "sys";
  os_source os(std::move(o));
  board out;
  CHECK(!os.discover(out));
  CHECK(!os.read(out));
  for (const auto& f : os.probe()) {
    CAPTURE(f.what);
    CHECK(f.how != finding::grade::works);
    CHECK(!f.why.empty());
    CHECK(!f.remedy.empty());
  }
}

TEST_CASE("this machine's own /proc can be read") {
  os_source os(os_options{});
  board out;
  REQUIRE(os.discover(out));
  REQUIRE(os.read(out));
  CHECK(shown(out, "os_memory_total_bytes").size() > 5);
  CHECK(os.probe().front().how == finding::grade::works);
}

TEST_SUITE_END();

}  // namespace os_test
