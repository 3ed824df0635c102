// Runs discovery over the machines of tests/data/machines. NAME.expected beside each one says what must be
// found on it, and with which values. The report of a new machine is put there unchanged; this test then
// prints the text for its NAME.expected.
#include "agent/base/probe.hpp"
#include "agent/kernel/pmu_device.hpp"
#include "agent/kernel/slow_reader.hpp"
#include "agent/sources/host/host.hpp"
#include "agent/sources/os/os.hpp"
#include "agent/sources/os/sensors.hpp"
#include "agent/sources/pmu/pmu.hpp"
#include "agent/sources/pmu/pod_cgroups.hpp"
#include "agent/sources/rapl/rapl.hpp"
#include "agent/sources/rdt/resctrl_tree.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/data.hpp"
#include "tests/support/machine/machine.hpp"
#include "tests/support/machine/perf_sim.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <linux/perf_event.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace machines_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::fake_clock;

namespace {

namespace fs = std::filesystem;

// Longer than a counter may stand still (agent/README.md).
constexpr unsigned watched_seconds = 15;

/// One of these machines below a temporary folder. Its perf counters move as its report says.
struct bench {
  explicit bench(const std::string& file) : about(file) {
    about.write(root.path());
    const auto events = find_power_pmu(sys, proc).events;
    const auto joules = [this, events](const perf_encoding& encoding, unsigned cpu) -> std::optional<double> {
      for (const auto& e : events) {
        if (e.encoding != encoding || e.cpu != cpu) continue;
        const auto moved = about.joules_by_perf(name_of(e));
        return moved ? std::optional(*moved / e.joules) : std::nullopt;
      }
      return 1000;  // events that count no energy
    };
    perf.rate = [joules](const perf_encoding& e, unsigned cpu) { return joules(e, cpu).value_or(0); };
    perf.refusal = [joules, counts = has_cpu_pmu(sys)](const perf_request& r) {
      if (!counts && is_of_cpus(r.event)) return ENOENT;
      return joules(r.event, r.cpu) ? 0 : EACCES;
    };
  }
  /// Many virtual machines have none. Then the kernel knows no event of a CPU.
  static bool has_cpu_pmu(const std::string& sys) {
    return std::ranges::any_of(find_pmu_devices(sys), [](const pmu_device& d) {
      return d.name() == "cpu" || d.name() == "cpu_core" || d.name().starts_with("armv8");
    });
  }
  static bool is_of_cpus(const perf_encoding& e) {
    return e.type == PERF_TYPE_HARDWARE || e.type == PERF_TYPE_HW_CACHE || e.type == PERF_TYPE_RAW;
  }
  static std::string name_of(const power_event& e) {
    return e.package.empty()     ? e.zone
           : e.zone == "package" ? "package-" + e.package
                                 : e.zone + " of package-" + e.package;
  }

  temp_folder root;
  std::string sys = root.path() + "/sys", proc = root.path() + "/proc";
  machine about;
  perf_sim perf;
  fake_clock clock;
};

// Leaves out the folder's name, which differs from run to run.
std::string shortened(std::string text, const std::string& root) {
  for (auto at = text.find(root); at != text.npos; at = text.find(root, at)) text.erase(at, root.size());
  return text;
}

std::string labels_of(const metrics::label_set& labels) {
  std::string all;
  for (const auto& [name, value] : labels) all += fmt::format("{}{}={}", all.empty() ? "" : ",", name, value);
  return all.empty() ? all : "{" + all + "}";
}

void add_zones(const bench& b, std::string& out) {
  const auto tree = find_rapl_zones(b.sys, b.proc);
  if (!tree) out += fmt::format("powercap: {}\n", to_string(tree.error().code));
  for (const auto& z : tree ? tree->zones : std::vector<rapl_zone>()) {
    out += fmt::format("powercap zone {}", labels_of({{"zone", z.zone}, {"package", z.package}}));
    for (const auto& c : z.constraints) out += " " + c.name;
    out += '\n';
  }
  const auto by_perf = find_power_pmu(b.sys, b.proc);
  for (const auto& e : by_perf.events)
    out += fmt::format("power event {} through CPU {}\n", bench::name_of(e), e.cpu);
  for (const auto& problem : by_perf.problems) out += fmt::format("power events: {}\n", problem);
}

void add_sensors(const bench& b, std::string& out) {
  const auto add = [&](const char* what, const result<sensor_chips>& found) {
    if (!found) {
      out += fmt::format("{}: {}\n", what, to_string(found.error().code));
      return;
    }
    for (const auto& chip : found->all) {
      for (const auto& s : chip.sensors) out += fmt::format("{} {}{}\n", what, s.family, labels_of(s.labels));
    }
  };
  add("hwmon", find_hwmon_chips(b.sys, false));
  add("powercap watts", find_power_zones(b.sys));
  add("thermal", find_thermal_zones(b.sys));
}

void add_rest(const bench& b, std::string& out) {
  for (const auto& d : find_pmu_devices(b.sys)) out += fmt::format("pmu {} type {}\n", d.name(), d.type());
  const auto groups = find_resctrl_groups(b.sys, b.proc, 64);
  out += groups ? fmt::format("resctrl: {} group(s), {} cache(s)\n", groups->groups.size(),
                              groups->groups.front().domains.size())
                : fmt::format("resctrl: {}\n", to_string(groups.error().code));
  const auto cgroups = perf_cgroups(b.sys);
  out +=
      fmt::format("cgroups to count by: {}\n", cgroups.empty() ? "none" : shortened(cgroups, b.root.path()));
}

// Adds what --probe says, without reasons and remedies: other tests check their words.
void add_probe(source& s, const bench& b, std::string& out) {
  for (const auto& f : s.probe())
    out += fmt::format("probe {}: {}: {}\n", s.name(), to_string(f.how), shortened(f.what, b.root.path()));
}

void add_series(const board& readings, std::string& out) {
  std::set<std::string> lines;
  for (const auto& e : readings.series()) {
    // Of the os source's series, only those that host_power_watts is made of.
    if (e.removed || (e.info.family.starts_with("os_") && !e.info.family.ends_with("_power_watts"))) continue;
    const auto value =
        e.reason == absence::none ? to_string(e.value) : fmt::format("absent: {}", to_string(e.reason));
    lines.insert(fmt::format("series {}{} {}\n", e.info.family, labels_of(e.info.labels), value));
  }
  for (const auto& line : lines) out += line;
}

/// Everything that is found on the machine, one line each.
std::string found_on(const std::string& file) {
  bench b(file);
  std::string out;
  add_zones(b, out);
  add_sensors(b, out);
  add_rest(b, out);

  const auto a_second_later = [&b](duration) {
    b.about.advance(b.root.path(), 1);
    b.perf.advance(std::chrono::seconds(1));
  };
  rapl_source rapl({.sys_root = b.sys, .proc_root = b.proc, .pause = a_second_later}, b.clock.source(),
                   b.perf.opener());
  pmu_source pmu({.sys_root = b.sys, .proc_root = b.proc}, b.clock.source(), b.perf.opener());
  const auto slow = std::make_shared<slow_reader>();
  os_source os({.proc = b.proc, .sys = b.sys, .time = b.clock.source(), .slow = slow});
  host_source host({.proc_root = b.proc, .sys_root = b.sys}, b.clock.source());
  add_probe(rapl, b, out);
  add_probe(pmu, b, out);
  board readings;
  const std::vector<source*> sources{&rapl, &os, &pmu, &host};
  for (auto* s : sources) {
    if (const auto done = s->discover(readings); !done)
      out += fmt::format("source {}: {}\n", s->name(), to_string(done.error().code));
  }
  for (unsigned second = 0; second <= watched_seconds; ++second) {
    b.about.advance(b.root.path(), second);
    for (auto* s : sources) (void)s->read(readings);
    CHECK(slow->wait(std::chrono::minutes(1)));
    b.perf.advance(std::chrono::seconds(1));
    b.clock.now += std::chrono::seconds(1);
  }
  add_series(readings, out);
  return out;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE_BEGIN("agent/sources/machines");

TEST_CASE("each machine of tests/data/machines is found to be what stands beside it") {
  std::size_t machines = 0;
  for (const auto& entry : fs::directory_iterator(data_folder() + "/machines")) {
    if (entry.path().extension() != ".yaml") continue;
    ++machines;
    CAPTURE(entry.path().filename().string());
    auto beside = entry.path();
    beside.replace_extension(".expected");
    CHECK(found_on(entry.path()) == text_of(beside));
  }
  CHECK(machines >= 16);
}

TEST_SUITE_END();

}  // namespace machines_test
