#include "agent/sources/pmu/pmu.hpp"

#include "agent/sources/pmu/named_events.hpp"
#include "tests/agent/countable.hpp"
#include "tests/agent/perf_machine.hpp"
#include "tests/agent/sources/pmu/touch_pages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

namespace pmu_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::entry_of;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

/// A simulated machine, its clock, and a pmu source that counts on it.
struct bench : agent::test::perf_machine {
  explicit bench(const pmu_machine& machine, pmu_options options = {})
      : perf_machine(machine), source(with_roots(std::move(options), sys), clock.source(), sim.opener()) {
    sim.rate = [](const perf_encoding& e, unsigned) {
      if (e.type == 0 && (e.config & 0xff) == 0) return 2e9;   // cycles
      if (e.type == 0 && (e.config & 0xff) == 1) return 3e9;   // instructions
      if (e.type == 0 && (e.config & 0xff) == 2) return 1e6;   // references
      if (e.type == 0 && (e.config & 0xff) == 3) return 25e4;  // misses
      return 100.0;
    };
  }
  static pmu_options with_roots(pmu_options o, const temp_folder& root) {
    root.write("proc/sys/kernel/perf_event_paranoid", "4\n");
    o.sys_root = root.path();
    o.proc_root = root / "proc";
    return o;
  }
  bool read(duration pause = 1s) { return perf_machine::read(source, pause); }
  void warm_up() { perf_machine::warm_up(source); }
  // Makes the events those of a machine without a hardware PMU.
  void without_hardware() {
    sim.refusal = [](const perf_request& r) { return r.event.type == 1 ? 0 : ENOENT; };
  }

  pmu_source source;
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/pmu/source");

TEST_CASE("sums, rates, instructions per cycle, miss ratio and memory bandwidth of a two-socket machine") {
  bench b(pmus::xeon());
  b.warm_up();
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  CHECK(shown(b.out, "pmu_cycles_total") == "16000000000");
  CHECK(shown(b.out, "pmu_context_switches_per_second") == "400");
  CHECK(shown(b.out, "pmu_instructions_per_cycle") == "1.5000");
  CHECK(shown(b.out, "pmu_llc_miss_ratio") == "0.2500");
  CHECK(shown(b.out, "pmu_running_ratio", {{"event", "cycles"}}) == "1.0000");
  // Two channels on two sockets, 64 bytes each.
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", {{"direction", "read"}}) == "25600");
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_total", {{"direction", "write"}}) == "51200");
  CHECK(b.source.limitation().empty());
}

TEST_CASE("every series of every preset is one of METRICS.md, with its labels in order") {
  for (const bool per_cpu : {false, true}) {
    bench b(pmus::xeon(), {.wishes = {event_preset::collectd, {"r01c2"}}, .per_cpu = per_cpu});
    b.warm_up();
    CHECK(b.out.live_series() > 80);
    agent::test::check_families(b.out, false);
    for (const auto& e : b.out.series()) {
      CAPTURE(e.info.family);
      CHECK(e.reason == absence::none);
    }
  }
}

TEST_CASE("the first reading has totals but no rates") {
  bench b(pmus::xeon());
  REQUIRE(b.source.discover(b.out));
  CHECK(shown(b.out, "pmu_cycles_total") == "not_read_yet");
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_total") == "8000000000");
  CHECK(shown(b.out, "pmu_cycles_per_second") == "not_read_yet");
  CHECK(shown(b.out, "pmu_instructions_per_cycle") == "not_read_yet");
}

TEST_CASE("without a hardware PMU the software events carry on, and nothing keeps looking for it") {
  bench b(pmus::virtual_machine());
  b.without_hardware();
  b.warm_up();
  CHECK(shown(b.out, "pmu_context_switches_per_second") == "200");
  CHECK(shown(b.out, "pmu_cycles_total") == "missing");
  CHECK(shown(b.out, "pmu_instructions_per_cycle") == "missing");
  CHECK(shown(b.out, "pmu_running_ratio", {{"event", "cycles"}}) == "missing");
  CHECK(b.source.limitation().empty());
}

TEST_CASE("without the right to count, the source fails and names it") {
  bench b(pmus::xeon());
  b.sim.refusal = [](const perf_request&) { return EACCES; };
  const auto failed = b.source.discover(b.out);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == errc::permission);
  CHECK(holds(failed.error().message, "CAP_PERFMON"));
  CHECK(holds(failed.error().message, "perf_event_paranoid is 4"));
  CHECK_FALSE(b.read());
  CHECK(shown(b.out, "pmu_cycles_total") == "permission");
  // It comes back by itself once the right is granted.
  b.sim.refusal = [](const perf_request&) { return 0; };
  b.warm_up();
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  CHECK(b.source.limitation().empty());
}

TEST_CASE("an event whose counter another program held is counted once it is free, the others go on") {
  bench b(pmus::xeon());
  b.sim.refusal = [](const perf_request& r) { return r.event.type == 0 && r.event.config == 3 ? EBUSY : 0; };
  b.warm_up();
  CHECK(holds(b.source.limitation(), "another program"));
  const auto asked = b.sim.requests().size();
  REQUIRE(b.source.discover(b.out));
  CHECK(b.sim.requests().size() == asked + 1);
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  CHECK(shown(b.out, "pmu_cache_misses_total") == "no_data");
  b.sim.refusal = [](const perf_request&) { return 0; };
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_llc_miss_ratio") == "0.2500");
  CHECK(b.source.limitation().empty());
}

TEST_CASE("an unknown event is a sentence, everything else is counted") {
  bench b(pmus::xeon(), {.wishes = {event_preset::lean, {"instructons", "r01c2"}}});
  b.warm_up();
  CHECK(holds(b.source.limitation(), "did you mean instructions"));
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  CHECK(shown(b.out, "pmu_event_per_second", {{"event", "r01c2"}}) == "400");
}

TEST_CASE("an event that the configuration names and the CPU does not have is worth a word") {
  bench b(pmus::virtual_machine(), {.wishes = {event_preset::lean, {"ref-cycles"}}});
  b.without_hardware();
  b.warm_up();
  CHECK(holds(b.source.limitation(), "ref-cycles"));
}

TEST_CASE("more events than counters take turns: values are estimates, and the ratio says so") {
  bench b(pmus::xeon(), {.wishes = {event_preset::collectd, {}}});
  b.sim.running = [](std::size_t) { return 0.1; };
  b.warm_up();
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  CHECK(shown(b.out, "pmu_running_ratio", {{"event", "cycles"}}) == "0.1000");
  CHECK(entry_of(b.out, "pmu_running_ratio", {{"event", "page-faults"}}) == nullptr);
}

TEST_CASE("an event has no sum until it has had its turn on every CPU") {
  bench b(pmus::xeon());
  b.warm_up();
  b.sim.running = [](std::size_t) { return 0.0; };
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_total") == "not_running");
  CHECK(shown(b.out, "pmu_cycles_per_second") == "not_running");
  CHECK(shown(b.out, "pmu_instructions_per_cycle") == "not_running");
  CHECK(shown(b.out, "pmu_running_ratio", {{"event", "cycles"}}) == "0.0000");
  CHECK(shown(b.out, "pmu_context_switches_per_second") == "400");
  b.sim.running = [](std::size_t) { return 0.5; };
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  CHECK(shown(b.out, "pmu_cycles_total") == "32000000000");
}

TEST_CASE("a group that does not fit beside the NMI watchdog is counted one event at a time") {
  bench b(pmus::xeon());
  b.sim.running = [](std::size_t events) { return events > 2 ? 0.0 : 0.2; };
  REQUIRE(b.source.discover(b.out));
  for (int i = 0; i < 5; ++i) {
    REQUIRE(b.read());
    CHECK(shown(b.out, "pmu_cycles_total") == "not_running");
  }
  b.clock.now += 1s;
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  CHECK(shown(b.out, "pmu_running_ratio", {{"event", "cycles"}}) == "0.2000");
}

TEST_CASE("CPUs may go and come: totals never go back, rates follow") {
  bench b(pmus::xeon());
  b.warm_up();
  set_online(b.sys.path(), "0-2");
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_per_second") == "6000000000");
  CHECK(shown(b.out, "pmu_cycles_total") == "22000000000");
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", {{"direction", "read"}}) == "25600");
  set_online(b.sys.path(), "0-3");
  b.clock.now += 1s;
  b.sim.advance(1s);
  REQUIRE(b.source.discover(b.out));
  b.sim.advance(0s);
  (void)b.source.read(b.out);
  REQUIRE(b.read());
  CHECK(b.sim.open_descriptors() == 4 * 9 + 2 * 2 * 2);
}

TEST_CASE("a CPU that vanishes between two reads makes its sum absent once") {
  bench b(pmus::virtual_machine());
  b.warm_up();
  b.sim.offline = {1};
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_per_second") == "missing");
  set_online(b.sys.path(), "0");
  REQUIRE(b.read());
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_per_second") == "2000000000");
}

// As after a suspend. Before, such a counter was not_running until the agent was restarted. In the end the
// rate must not lack what the CPU did before its counter was open again.
TEST_CASE("a counter that is alone in its group counts again after its CPU was offline between two reads") {
  bench b(pmus::virtual_machine(), {.wishes = {event_preset::none, {"page-faults"}}});
  b.warm_up();
  REQUIRE(shown(b.out, "pmu_page_faults_per_second") == "200");
  b.sim.blink(1);
  for (const char* expected : {"missing", "not_running", "not_read_yet", "200", "200"}) {
    REQUIRE(b.read());
    CHECK(shown(b.out, "pmu_page_faults_per_second") == expected);
  }
}

TEST_CASE("a memory controller whose CPU goes offline is counted on the CPU that it moved to") {
  auto machine = pmus::xeon();
  bench b(machine);
  b.warm_up();
  const metrics::label_set read{{"direction", "read"}};
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", read) == "25600");
  for (auto& p : machine.pmus) {
    if (p.cpumask == "0,2") p.cpumask = "0,3";
  }
  machine.online = "0-1,3";
  write_pmu_tree(b.sys.path(), machine);
  for (int i = 0; i < 3; ++i) REQUIRE(b.read());  // opens the counters, reads first values, has rates
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", read) == "25600");
  CHECK(shown(b.out, "pmu_cycles_per_second") == "6000000000");
}

TEST_CASE("an event whose CPUs are all offline is missing, and comes back with one of them") {
  auto machine = pmus::xeon();
  for (auto& p : machine.pmus) {
    if (p.cpumask == "0,2") p.cpumask = "2";
  }
  bench b(machine);
  b.warm_up();
  const metrics::label_set read{{"direction", "read"}};
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", read) == "12800");
  set_online(b.sys.path(), "0-1,3");
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", read) == "missing");
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_total", read) == "missing");
  set_online(b.sys.path(), "0-3");
  for (int i = 0; i < 3; ++i) REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", read) == "12800");
}

TEST_CASE("with per-cpu each CPU has its series, and a CPU that left keeps its total") {
  bench b(pmus::virtual_machine(), {.per_cpu = true});
  b.sim.rate = [](const perf_encoding&, unsigned cpu) { return 100.0 * (cpu + 1); };
  b.warm_up();
  CHECK(shown(b.out, "pmu_cycles_per_second", {{"cpu", "0"}}) == "100");
  CHECK(shown(b.out, "pmu_cycles_per_second", {{"cpu", "1"}}) == "200");
  CHECK(shown(b.out, "pmu_instructions_per_cycle", {{"cpu", "1"}}) == "1.0000");
  CHECK(entry_of(b.out, "pmu_cycles_total") == nullptr);
  set_online(b.sys.path(), "0");
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_total", {{"cpu", "1"}}) == "400");
  CHECK(entry_of(b.out, "pmu_cycles_per_second", {{"cpu", "1"}}) == nullptr);
  CHECK(entry_of(b.out, "pmu_instructions_per_cycle", {{"cpu", "1"}}) == nullptr);
}

TEST_CASE("on a hybrid machine both kinds of cores are in the sum") {
  bench b(pmus::client());
  b.warm_up();
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  for (const auto& r : b.sim.requests()) {
    if (r.event.type != 0) continue;
    CHECK((r.event.config >> 32) == (r.cpu < 2 ? 4 : 10));
  }
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", {{"direction", "read"}}) == "6400");
}

TEST_CASE("an event of one kind of cores only is no sum of the machine") {
  bench b(pmus::client());
  b.sim.refusal = [](const perf_request& r) {
    return r.cpu >= 2 && r.event.type == 0 && (r.event.config & 0xff) == 3 ? ENOENT : 0;
  };
  b.warm_up();
  CHECK(shown(b.out, "pmu_cache_misses_total") == "missing");
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
}

TEST_CASE("more events than descriptors: the last ones are left out with a reason and a remedy") {
  bench b(pmus::xeon(), {.most_descriptors = 38});
  b.warm_up();
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  CHECK(entry_of(b.out, "pmu_memory_bandwidth_bytes_total", {{"direction", "read"}})->reason !=
        absence::none);
  CHECK(holds(b.source.limitation(), "LimitNOFILE"));
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
}

TEST_CASE("a memory controller's driver that is loaded later is found") {
  auto machine = pmus::xeon();
  const auto imc = machine.pmus[1];
  machine.pmus.erase(machine.pmus.begin() + 1, machine.pmus.begin() + 3);
  bench b(machine);
  b.warm_up();
  CHECK(entry_of(b.out, "pmu_memory_bandwidth_bytes_total", {{"direction", "read"}}) == nullptr);
  machine.pmus = {imc};
  write_pmu_tree(b.sys.path(), machine);
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", {{"direction", "read"}}) == "12800");
  CHECK(shown(b.out, "pmu_cycles_total") == "32000000000");
}

TEST_CASE("a driver that is unloaded for good takes its own series, and no look at the rest of them later") {
  bench b(pmus::xeon());
  b.warm_up();
  for (const auto& pmu : {"uncore_imc_0", "uncore_imc_1"})
    std::filesystem::remove_all(b.sys.path() + "/bus/event_source/devices/" + pmu);
  REQUIRE(b.source.discover(b.out));
  for (int i = 0; i < 3; ++i) REQUIRE(b.read());  // opens the counters, reads first values, has rates
  CHECK(shown(b.out, "pmu_memory_bandwidth_bytes_per_second", {{"direction", "read"}}) == "missing");
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.read());
  CHECK(shown(b.out, "pmu_cycles_per_second") == "8000000000");
}

TEST_CASE("nothing to count is said, and reading before anything was found is an error, not a crash") {
  bench b(pmus::xeon(), {.wishes = {event_preset::none, {}}});
  CHECK(holds(b.source.discover(b.out).error().message, "pmu-preset"));
  CHECK_FALSE(b.source.read(b.out));
  temp_folder empty;
  board out;
  pmu_source lost({.sys_root = empty.path()});
  CHECK_FALSE(lost.discover(out));
  CHECK_FALSE(lost.read(out));
}

TEST_CASE("the probe names what works and what would mend the rest") {
  SUBCASE("a server") {
    bench b(pmus::xeon());
    const auto found = b.source.probe();
    REQUIRE(found.size() == 3);
    for (const auto& f : found) CHECK(f.how == finding::grade::works);
    CHECK(holds(found[2].what, "read on 2 PMUs"));
    CHECK(b.sim.open_descriptors() == 0);
  }
  SUBCASE("a virtual machine") {
    bench b(pmus::virtual_machine());
    b.without_hardware();
    const auto found = b.source.probe();
    REQUIRE(found.size() == 3);
    CHECK(found[0].how == finding::grade::works);
    CHECK(found[1].how == finding::grade::absent);
    CHECK(holds(found[1].why, "virtual machine"));
    CHECK(holds(found[1].remedy, "software events work"));
    CHECK(holds(found[2].why, "uncore_imc"));
  }
  SUBCASE("no right") {
    bench b(pmus::xeon());
    b.sim.refusal = [](const perf_request&) { return EACCES; };
    const auto found = b.source.probe();
    CHECK(found[0].how == finding::grade::broken);
    CHECK(holds(found[0].why, "CAP_PERFMON"));
    CHECK(holds(found[0].remedy, "perf_event_paranoid=2"));
    b.sys.write("proc/sys/kernel/perf_event_paranoid", "2\n");
    CHECK(holds(b.source.probe()[0].remedy, "perf_event_paranoid=0"));
  }
  SUBCASE("a wrong name") {
    bench b(pmus::xeon(), {.wishes = {event_preset::none, {"instructons"}}});
    const auto found = b.source.probe();
    REQUIRE(found.size() == 1);
    CHECK(holds(found[0].why, "did you mean instructions"));
  }
}

// Uses the kernel's own counters, where they can be counted.
TEST_CASE("software events of this very machine") {
  if (!agent::test::every_cpu_can_be_counted()) {
    MESSAGE("skipped: the events of the CPUs that /sys lists cannot be counted here");
    return;
  }
  pmu_source source({.wishes = {event_preset::none, {"context-switches", "page-faults", "task-clock"}}});
  board out;
  REQUIRE(source.discover(out));
  REQUIRE(source.read(out));
  const auto* clock = entry_of(out, "pmu_task_clock_seconds_total");
  const auto* faults = entry_of(out, "pmu_page_faults_total");
  REQUIRE(clock != nullptr);
  REQUIRE(faults->reason == absence::none);
  const auto before = faults->value.mantissa;
  REQUIRE(touch_pages(256));
  REQUIRE(source.read(out));
  CHECK(faults->value.mantissa >= before + 256);
  CHECK(clock->reason == absence::none);
}

TEST_SUITE_END();

}  // namespace pmu_test
