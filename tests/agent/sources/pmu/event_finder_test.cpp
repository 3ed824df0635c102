#include "agent/sources/pmu/event_finder.hpp"

#include "agent/sources/pmu/counted_event.hpp"
#include "agent/sources/pmu/memory_bandwidth.hpp"
#include "agent/sources/pmu/named_events.hpp"
#include "common/metrics/families.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/machine/pmu_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace event_finder_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::holds;

namespace {

struct machine {
  explicit machine(const pmu_machine& m) : finder(devices_of(sys, m)) {}

  static std::vector<pmu_device> devices_of(const temp_folder& sys, const pmu_machine& m) {
    write_pmu_tree(sys.path(), m);
    return find_pmu_devices(sys.path());
  }
  perf_encoding one(std::string_view name) const {
    const auto places = finder.find(name).value();
    REQUIRE(places.size() == 1);
    return places.front().encoding;
  }
  std::string refusal(std::string_view name) const {
    const auto places = finder.find(name);
    return places ? "accepted" : places.error().message;
  }

  temp_folder sys;
  event_finder finder;
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/pmu/event_finder");

TEST_CASE("every named event has its families in METRICS.md, and its own number") {
  const auto all = named_events();
  for (const auto& e : all) {
    CAPTURE(e.name);
    const auto* total = metrics::find(std::string(e.family) + "_total");
    REQUIRE(total != nullptr);
    CHECK(total->type == metrics::kind::counter);
    if (e.scale == 1) CHECK(metrics::find(std::string(e.family) + "_per_second") != nullptr);
    CHECK(std::ranges::count(all, e.encoding, &named_event::encoding) == 1);
    CHECK(find_named_event(e.name) == &e);
  }
  CHECK(find_named_event("CPU-CYCLES")->name == "cycles");
  CHECK(find_named_event("faults")->name == "page-faults");
  CHECK(find_named_event("") == nullptr);
  CHECK(find_named_event("cycle") == nullptr);
}

// Source: perf_event_open(2); numbers as `perf stat -vv` shows them.
TEST_CASE("named events have the numbers of the kernel's ABI") {
  const auto is = [](const char* name, std::uint32_t type, std::uint64_t config) {
    CAPTURE(name);
    CHECK(find_named_event(name)->encoding == perf_encoding{.type = type, .config = config});
  };
  is("cycles", 0, 0);
  is("instructions", 0, 1);
  is("cache-misses", 0, 3);
  is("ref-cycles", 0, 9);
  is("L1-dcache-loads", 3, 0);
  is("L1-icache-load-misses", 3, 0x10001);
  is("LLC-load-misses", 3, 0x10002);
  is("LLC-stores", 3, 0x102);
  is("dTLB-prefetches", 3, 0x203);
  is("iTLB-loads", 3, 4);
  is("branch-load-misses", 3, 0x10005);
  is("context-switches", 1, 3);
  is("emulation-faults", 1, 8);
}

TEST_CASE("the collectd preset is the 42 events that collectd read for TAS, the default one is lean") {
  const auto collectd = preset_events(event_preset::collectd);
  CHECK(collectd.size() == 42);
  const auto of_type = [&](std::uint32_t type) {
    return std::ranges::count_if(collectd,
                                 [&](auto name) { return find_named_event(name)->encoding.type == type; });
  };
  CHECK(of_type(0) == 7);
  CHECK(of_type(1) == 9);
  CHECK(of_type(3) == 26);
  for (const auto* name :
       {"cycles", "instructions", "cache-references", "cache-misses", "context-switches"}) {
    CAPTURE(name);
    CHECK(std::ranges::count(preset_events(event_preset::lean), std::string_view(name)) == 1);
  }
  CHECK(preset_events(event_preset::lean).size() < 12);
  CHECK(preset_events(event_preset::none).empty());
}

TEST_CASE("numbers, terms and the kernel's names") {
  const machine m(pmus::xeon());
  CHECK(m.one("r01c2") == perf_encoding{.type = 4, .config = 0x1c2});
  CHECK(m.one("cpu/event=0xc2,umask=0x01/") == perf_encoding{.type = 4, .config = 0x1c2});
  CHECK(m.one("mem-loads") == perf_encoding{.type = 4, .config = 0x1cd, .config1 = 3});
  CHECK(m.one(" instructions ") == perf_encoding{.type = 0, .config = 1});
  for (const auto* name : {"uncore_imc/cas_count_read/", "imc/cas_count_read/"}) {
    CAPTURE(name);
    const auto boxes = m.finder.find(name).value();
    REQUIRE(boxes.size() == 2);
    CHECK(boxes[0].encoding == perf_encoding{.type = 21, .config = 0xcf05});
    CHECK(boxes[1].encoding.type == 22);
    CHECK(boxes[1].cpus == std::vector<unsigned>{0, 2});
  }
  CHECK(m.finder.find("uncore_imc_1/cas_count_read/").value().size() == 1);
}

TEST_CASE("on a hybrid machine an event of the cores is counted on both kinds") {
  const machine m(pmus::client());
  const auto cycles = m.finder.find("cycles").value();
  REQUIRE(cycles.size() == 2);
  // The PMU's type goes into the upper half of config (PERF_PMU_TYPE_SHIFT). Devices come sorted by name.
  CHECK(cycles[0].encoding == perf_encoding{.type = 0, .config = 0xa'0000'0000});
  CHECK(cycles[0].cpus == std::vector<unsigned>{2, 3});
  CHECK(cycles[1].encoding == perf_encoding{.type = 0, .config = 0x4'0000'0000});
  CHECK(cycles[1].cpus == std::vector<unsigned>{0, 1});
  const auto raw = m.finder.find("r3c").value();
  REQUIRE(raw.size() == 2);
  CHECK(raw[0].encoding == perf_encoding{.type = 10, .config = 0x3c});
  CHECK(m.finder.find("page-faults").value().size() == 1);
  CHECK(m.finder.find("slots").value().size() == 1);  // one kind has it
}

TEST_CASE("an event that is not there is refused in a sentence with the nearest names") {
  const machine m(pmus::xeon());
  CHECK(holds(m.refusal("instructons"), "did you mean instructions"));
  CHECK(holds(m.refusal("LLC-load-mises"), "did you mean LLC-load-misses"));
  CHECK(holds(m.refusal("mem-load"), "did you mean mem-loads"));
  CHECK(holds(m.refusal("wholly_unlike_anything"), "write a name of perf list"));
  CHECK(holds(m.refusal("skx::INST_RETIRED:ANY_P"), "there is no event \"skx::INST_RETIRED:ANY_P\" here"));
  CHECK(holds(m.refusal("uncore_cha/event=1/"),
              "there is no PMU \"uncore_cha\" here: there are cpu, power, software"));
  CHECK(holds(m.refusal("cpu/event=0xc2"), "write pmu/terms/"));
  CHECK(holds(m.refusal("cpu/event=1/x/"), "write pmu/terms/"));
  CHECK(holds(m.refusal("/event=1/"), "write pmu/terms/"));
  CHECK(holds(m.refusal("uncore_imc/cas_count_raed/"), "no term or event"));
  CHECK(holds(m.refusal(""), "mend pmu-events"));
  CHECK(holds(m.refusal(std::string(201, 'x')), "mend pmu-events"));
}

TEST_CASE("nearest names are those a finger slipped from") {
  const std::vector<std::string> names{"instructions", "cache-misses", "skx::L2_RQSTS", "skx::INST_RETIRED"};
  CHECK(nearest_names("l2_rqst", names, 3) == std::vector<std::string>{"skx::L2_RQSTS"});
  CHECK(nearest_names("misses", names, 3) == std::vector<std::string>{"cache-misses"});
  CHECK(nearest_names("xyz", names, 3).empty());
  CHECK(nearest_names("inst", names, 1).size() == 1);
}

TEST_CASE("what the list wants, each event once, and the rest of it when one is wrong") {
  const machine m(pmus::xeon());
  const auto list =
      list_events({event_preset::lean, {"cpu-cycles", "r01c2", "r01c2", "nonsense", "ref-cycles"}}, m.finder);
  CHECK(list.events.size() == 9 + 2 + 2);  // with the reads and the writes of memory
  CHECK(list.problems.size() == 1);
  const auto count = [&](std::string_view name) {
    return std::ranges::count_if(list.events, [&](const auto& e) { return e.name == name; });
  };
  CHECK(count("cycles") == 1);
  CHECK(count("r01c2") == 1);
  CHECK(count("ref-cycles") == 1);
  for (const auto& e : list.events) {
    CAPTURE(e.name);
    CHECK(metrics::find(e.total) != nullptr);
    CHECK(metrics::find(e.rate) != nullptr);
  }
  CHECK(list_events({event_preset::none, {}}, m.finder).events.empty());
}

TEST_CASE("commas within the terms of an event do not end it") {
  const machine m(pmus::xeon());
  // The list as a flag's value is split at commas.
  const auto list =
      list_events({event_preset::none, {"cpu/event=0xc2", "umask=0x01/", "instructions"}}, m.finder);
  REQUIRE(list.events.size() == 2);
  CHECK(list.events[0].name == "cpu/event=0xc2,umask=0x01/");
  CHECK(list.events[1].name == "instructions");
  CHECK(list_events({event_preset::none, {"cpu/event=0xc2", "umask=0x01"}}, m.finder).problems.size() == 1);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("agent/sources/pmu/memory_bandwidth");

TEST_CASE("a Xeon's channels on both sockets, in bytes") {
  const machine m(pmus::xeon());
  const auto flows = find_memory_flows(m.finder.devices());
  REQUIRE(flows.size() == 2);
  CHECK(flows[0].direction == "read");
  CHECK(flows[0].bytes == 64);
  REQUIRE(flows[0].places.size() == 2);
  CHECK(flows[0].places[0].encoding == perf_encoding{.type = 21, .config = 0xcf05});
  CHECK(flows[0].places[0].cpus == std::vector<unsigned>{0, 2});
  CHECK(flows[1].direction == "write");
  CHECK(flows[1].places[1].encoding == perf_encoding{.type = 22, .config = 0xf005});
}

TEST_CASE("both halves of a Granite Rapids channel count") {
  const machine m(pmus::granite_rapids());
  const auto flows = find_memory_flows(m.finder.devices());
  REQUIRE(flows.size() == 2);
  REQUIRE(flows[0].places.size() == 4);
  CHECK(flows[0].places[0].encoding.config == 0xcf05);
  CHECK(flows[0].places[1].encoding.config == 0xcf06);
}

TEST_CASE("a client's free-running counters count where there is nothing else") {
  auto machine_of = pmus::client();
  const machine m(machine_of);
  const auto flows = find_memory_flows(m.finder.devices());
  REQUIRE(flows.size() == 2);
  CHECK(flows[1].places.at(0).encoding == perf_encoding{.type = 30, .config = 0x30ff});

  machine_of.pmus.push_back(pmus::xeon().pmus[1]);
  const machine both(machine_of);
  CHECK(find_memory_flows(both.finder.devices())[0].places.at(0).encoding.type == 21);
}

TEST_CASE("an EPYC's memory controllers have numbers only") {
  const machine m(pmus::epyc());
  const auto flows = find_memory_flows(m.finder.devices());
  REQUIRE(flows.size() == 2);
  CHECK(flows[0].bytes == 64);
  CHECK(flows[0].places.at(0).encoding == perf_encoding{.type = 12, .config = 0x10a});
  CHECK(flows[0].places.at(1).cpus == std::vector<unsigned>{2});
  CHECK(flows[1].places.at(0).encoding.config == 0x20a);
}

TEST_CASE("no memory controllers, or a unit that is none, is no bandwidth") {
  CHECK(find_memory_flows(machine(pmus::virtual_machine()).finder.devices()).empty());
  auto odd = pmus::xeon();
  for (auto& p : odd.pmus) {
    for (auto& [name, text] : p.events) {
      if (text == "MiB") text = "furlongs";
    }
  }
  CHECK(find_memory_flows(machine(odd).finder.devices()).empty());
}

// Before, a missing scale counted as 1: each transfer of 64 bytes was a MiB.
TEST_CASE("an event whose scale does not say how many bytes a count is, is no bandwidth") {
  for (const std::string scale : {"missing", "-1", "0", "nan", "inf", "1e300", "1e-300", "1"}) {
    CAPTURE(scale);
    auto odd = pmus::xeon();
    for (auto& p : odd.pmus) {
      std::erase_if(p.events, [](const auto& e) { return e.second == "6.103515625e-5"; });
      if (p.name.starts_with("uncore_imc") && scale != "missing") {
        for (const auto* name : {"cas_count_read", "cas_count_write"})
          p.events.push_back({std::string(name) + ".scale", scale});
      }
    }
    CHECK(find_memory_flows(machine(odd).finder.devices()).empty());
  }
}

TEST_SUITE_END();

}  // namespace event_finder_test
