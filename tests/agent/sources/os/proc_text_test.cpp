#include "agent/sources/os/proc_text.hpp"

#include "tests/support/data.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace proc_text_test {

using namespace binnacle::agent;

namespace {

std::string data(const std::string& name) {
  std::ifstream in(binnacle::support::data_folder() + "/procfs/vm/" + name);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE_BEGIN("agent/sources/os/proc_text");

TEST_CASE("a machine's own /proc is understood") {
  const auto s = proc::parse_stat(data("stat"));
  REQUIRE(s);
  CHECK(s->cpus == 2);
  CHECK(s->all.total() > s->all.idle());
  CHECK(s->context_switches);
  CHECK(s->running);
  CHECK(proc::parse_loadavg(data("loadavg")));
  CHECK(proc::parse_uptime(data("uptime")));
  const auto m = proc::parse_meminfo(data("meminfo"));
  REQUIRE(m);
  CHECK(m->available);
  CHECK(m->used());
  for (const auto* resource : {"cpu", "memory", "io"}) {
    CAPTURE(resource);
    CHECK(proc::parse_pressure(data(std::string("pressure/") + resource)));
  }
  std::vector<proc::interface> interfaces;
  REQUIRE(proc::parse_net_dev(data("net/dev"), interfaces));
  CHECK(interfaces.size() == 4);
}

TEST_CASE("/proc/stat: modes in order, CPUs counted, newer lines passed over") {
  const auto s = proc::parse_stat(
      "cpu  1 2 3 4 5 6 7 8 9 10\n"
      "cpu0 1 2 3 4 5 6 7 8 9 10\n"
      "cpu17 1 2 3 4 5 6 7 8 9 10\n"
      "cpufreq 5\n"
      "intr 18 0 3\nctxt 4711\nbtime 1\nprocesses 9\nprocs_running 3\nprocs_blocked 0\n");
  REQUIRE(s);
  CHECK(s->all.mode == std::array<std::uint64_t, 8>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(s->cpus == 2);
  CHECK(s->context_switches == 4711);
  CHECK(s->running == 3);
  CHECK(s->all.total() == 36);  // guest is inside user
}

TEST_CASE("/proc/stat that is broken gives nothing") {
  for (const auto* text : {"", "cpu0 1 2 3 4\n", "cpu 1 2 x 4\n", "cpu\n", "\n\n\n"}) {
    CAPTURE(text);
    CHECK(!proc::parse_stat(text));
  }
  CHECK(proc::parse_stat("cpu 1 2 3 4\n"));  // old, but whole
  CHECK(!proc::parse_stat("cpu 1 2 3 4\nctxt -5\n")->context_switches);
}

TEST_CASE("utilization is the share of time that was neither idle nor iowait") {
  const proc::cpu_ticks before{{100, 0, 100, 1000, 100, 0, 0, 0}};
  SUBCASE("a quarter") {
    const proc::cpu_ticks after{{120, 0, 105, 1070, 105, 0, 0, 0}};
    CHECK(*proc::utilization(before, after) == doctest::Approx(0.25));
  }
  SUBCASE("iowait steps back, as it may: counted as nothing") {
    const proc::cpu_ticks after{{150, 0, 100, 1050, 90, 0, 0, 0}};
    CHECK(*proc::utilization(before, after) == doctest::Approx(0.5));
  }
  SUBCASE("steal is no idling") {
    const proc::cpu_ticks after{{100, 0, 100, 1050, 100, 0, 0, 50}};
    CHECK(*proc::utilization(before, after) == doctest::Approx(0.5));
  }
  SUBCASE("no time passed") { CHECK(!proc::utilization(before, before)); }
  SUBCASE("all of it went back") { CHECK(!proc::utilization(before, {})); }
}

TEST_CASE("/proc/meminfo in bytes; missing fields are absent, used needs them all") {
  const auto m = proc::parse_meminfo(
      "MemTotal:       1000 kB\nMemFree:         100 kB\nBuffers:          10 kB\nCached:          200 kB\n"
      "SwapCached:        7 kB\nSReclaimable:     30 kB\nSUnreclaim:       40 kB\nHugePages_Total:   0\n");
  REQUIRE(m);
  CHECK(m->total == 1'024'000);
  CHECK(m->cached == 204'800);  // and not SwapCached
  CHECK(m->used() == (1000 - 100 - 10 - 200 - 30 - 40) * 1024u);
  CHECK(!m->available);
  CHECK(!proc::parse_meminfo("MemTotal: 1000 kB\n")->used());
  CHECK(!proc::parse_meminfo("MemTotal: 10 kB\nMemFree: 20 kB\nBuffers: 0 kB\nCached: 0 kB\nSReclaimable: 0 "
                             "kB\nSUnreclaim: 0 kB\n")
             ->used());
  CHECK(!proc::parse_meminfo("MemTotal: 99999999999999999999 kB\n"));
  CHECK(!proc::parse_meminfo(""));
}

TEST_CASE("/proc/net/dev: aliases with colons, counters that touch the name, broken lines left out") {
  const std::string head =
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
      "colls carrier compressed\n";
  std::vector<proc::interface> found;
  // The names that are found are views into the text.
  const std::string text = head +
                           "  eth0:1234567890123 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                           "eth0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                           "broken: 1 2 x\n"
                           "no colon here\n"
                           " : 1 2 3 4 5 6 7 8 9 10 11 12\n";
  REQUIRE(proc::parse_net_dev(text, found));
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "eth0");
  CHECK(found[0].receive_bytes == 1234567890123);
  CHECK(found[0].receive_dropped == 4);
  CHECK(found[0].transmit_bytes == 9);
  CHECK(found[0].transmit_errors == 11);
  CHECK(found[0].transmit_dropped == 12);
  CHECK(found[1].name == "eth0:1");
  CHECK(!proc::parse_net_dev("", found));
  CHECK(!proc::parse_net_dev("something else\nentirely\n", found));
}

TEST_CASE("pressure: totals in µs, full optional") {
  const auto p = proc::parse_pressure(
      "some avg10=0.00 avg60=0.12 avg300=0.25 total=9325711\nfull avg10=0.00 avg60=0.00 avg300=0.00 "
      "total=17\n");
  REQUIRE(p);
  CHECK(p->some_us == 9325711);
  CHECK(p->full_us == 17);
  CHECK(!proc::parse_pressure("some avg10=0.00 avg60=0.12 avg300=0.25 total=5\n")->full_us);
  CHECK(!proc::parse_pressure("some avg10=0.00\n"));
  CHECK(!proc::parse_pressure("full avg10=0 total=5\n"));
  CHECK(!proc::parse_pressure(""));
}

TEST_CASE("load and uptime") {
  CHECK(*proc::parse_loadavg("0.07 1.50 23.03 1/94 10078\n") == std::array<double, 3>{0.07, 1.5, 23.03});
  CHECK(!proc::parse_loadavg("0.07 1.50\n"));
  CHECK(!proc::parse_loadavg("a b c\n"));
  CHECK(*proc::parse_uptime("2075.46 3988.19\n") == doctest::Approx(2075.46));
  CHECK(!proc::parse_uptime(""));
}

TEST_SUITE_END();

}  // namespace proc_text_test
