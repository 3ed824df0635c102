#include "agent/kernel/pmu_device.hpp"

#include "agent/kernel/cpu_list.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/machine/pmu_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace pmu_device_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::holds;

namespace {

struct machine {
  explicit machine(const pmu_machine& m) {
    write_pmu_tree(sys.path(), m);
    devices = find_pmu_devices(sys.path());
  }
  const pmu_device& device(std::string_view name) const {
    const auto it = std::ranges::find_if(devices, [&](const pmu_device& d) { return d.name() == name; });
    REQUIRE(it != devices.end());
    return *it;
  }
  std::string refusal(std::string_view name, std::string_view terms) const {
    const auto e = device(name).encode(terms);
    return e ? "accepted" : e.error().message;
  }

  temp_folder sys;
  std::vector<pmu_device> devices;
};

}  // namespace

TEST_SUITE_BEGIN("agent/kernel/pmu_device");

TEST_CASE("lists of CPUs") {
  using list = std::vector<unsigned>;
  CHECK(parse_cpu_list("0-3,8,10-11\n") == list{0, 1, 2, 3, 8, 10, 11});
  CHECK(parse_cpu_list("5") == list{5});
  CHECK(parse_cpu_list("3,1,1-2") == list{1, 2, 3});
  CHECK(parse_cpu_list("\n") == list{});
  for (const auto* text : {"a", "1-", "-1", "3-1", "1,,2", "1,", "0-99999999", "1-2-3", "0x1", "1 2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_cpu_list(text));
  }
  CHECK_FALSE(read_cpu_list("/no/such/file"));
}

// Before, 64 KiB of this text became 77 million numbers (293 MiB), and the agent ended.
TEST_CASE("a list that names all CPUs again and again is no longer than one that names them once") {
  std::string text("0-8191");
  while (text.size() < 8'000) text += ",0-8191";
  const auto cpus = parse_cpu_list(text);
  REQUIRE(cpus);
  CHECK(cpus->size() == 8192);
  CHECK(cpus->capacity() <= 16'384);
}

TEST_CASE("formats say where a value's bits go") {
  const auto put = [](const char* format, std::uint64_t value) {
    perf_encoding e;
    const auto where = parse_pmu_format(format);
    REQUIRE(where);
    CHECK(put_term(*where, value, e));
    return e;
  };
  CHECK(put("config:0-7\n", 0x3c).config == 0x3c);
  CHECK(put("config:8-15", 0x4f).config == 0x4f00);
  CHECK(put("config:18", 1).config == 1u << 18);
  CHECK(put("config1:0-63", ~0ull).config1 == ~0ull);
  CHECK(put("config2:4-7", 0xf).config2 == 0xf0);
  CHECK(put("config:0-7,32-35", 0x1cd).config == 0x1'0000'00cd);  // AMD's twelve bits of event
  perf_encoding e;
  CHECK_FALSE(put_term(*parse_pmu_format("config:0-7"), 0x100, e));
  CHECK_FALSE(put_term(*parse_pmu_format("config:18"), 2, e));
  for (const auto* text : {"", "config", "config:", "config3:0-7", "config:7-0", "config:0-64", "config:0-7,",
                           "event:0", "config:a"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_pmu_format(text));
  }
}

TEST_CASE("a tree gives each PMU with its type and CPUs") {
  const machine m(pmus::client());
  REQUIRE(m.devices.size() == 4);
  CHECK(m.device("cpu_core").type() == 4);
  CHECK(m.device("cpu_core").core_cpus() == std::vector<unsigned>{0, 1});
  CHECK_FALSE(m.device("cpu_core").box_cpus());
  CHECK(m.device("cpu_atom").core_cpus() == std::vector<unsigned>{2, 3});
  CHECK(m.device("power").box_cpus() == std::vector<unsigned>{0});
  temp_folder empty;
  CHECK(find_pmu_devices(empty.path()).empty());
}

TEST_CASE("terms, the kernel's own names, and both together become an encoding") {
  const machine m(pmus::xeon());
  const auto encoded = [&](const char* device, const char* terms) {
    return m.device(device).encode(terms).value();
  };
  CHECK(encoded("cpu", "event=0xc2,umask=0x01") == perf_encoding{.type = 4, .config = 0x1c2});
  CHECK(encoded("cpu", "event=194,umask=1,edge,cmask=2").config == 0x20401c2);
  CHECK(encoded("cpu", "mem-loads") == perf_encoding{.type = 4, .config = 0x1cd, .config1 = 3});
  CHECK(encoded("cpu", "mem-loads,ldlat=30").config1 == 30);
  CHECK(encoded("cpu", "config=0x1ff,config1=7").config1 == 7);
  CHECK(encoded("uncore_imc_0", "cas_count_read") == perf_encoding{.type = 21, .config = 0xcf05});
  const machine amd(pmus::epyc());
  CHECK(amd.device("cpu").encode("event=0x1cd").value().config == 0x1'0000'00cd);
  CHECK(amd.device("amd_umc_1").encode("event=0x0a,rdwrmask=0x2").value() ==
        perf_encoding{.type = 13, .config = 0x20a});
}

TEST_CASE("what a PMU does not have is refused with what it has") {
  const machine m(pmus::xeon());
  CHECK(holds(m.refusal("cpu", "evnt=1"), "its terms are cmask, edge, event"));
  CHECK(holds(m.refusal("cpu", "event=0x100"), "too large"));
  CHECK(holds(m.refusal("cpu", "event=two"), "write a number"));
  CHECK(holds(m.refusal("cpu", "event="), "write a number"));
  CHECK(holds(m.refusal("cpu", ""), "no event"));
  CHECK(holds(m.refusal("uncore_imc_0", "cas_count_raed"), "no term or event"));
  CHECK(holds(m.refusal("cpu", "../../../devices/system/cpu/online"), "no term or event"));
}

TEST_CASE("an event's scale and unit") {
  const machine m(pmus::xeon());
  const auto cas = m.device("uncore_imc_1").alias("cas_count_write");
  REQUIRE(cas);
  CHECK(cas->terms == "event=0x05,umask=0xf0");
  CHECK(cas->scale == 6.103515625e-5);
  CHECK(cas->unit == "MiB");
  CHECK(m.device("power").alias("energy-pkg")->scale == 2.3283064365386962890625e-10);
  CHECK_FALSE(m.device("cpu").alias("../type"));
  CHECK_FALSE(m.device("cpu").alias("nothing"));
  m.sys.write("bus/event_source/devices/power/events/energy-pkg.scale", "2.3 joules\n");
  CHECK_FALSE(m.device("power").alias("energy-pkg"));
}

TEST_SUITE_END();

}  // namespace pmu_device_test
