#include "tests/support/machine/pmu_tree.hpp"

#include "tests/support/machine/write_line.hpp"

namespace binnacle::support {
namespace {

using files = std::vector<std::pair<std::string, std::string>>;

files joined(files a, const files& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const files intel_core_format{{"event", "config:0-7"},        {"umask", "config:8-15"},
                              {"edge", "config:18"},          {"inv", "config:23"},
                              {"cmask", "config:24-31"},      {"ldlat", "config1:0-15"},
                              {"offcore_rsp", "config1:0-63"}};
const files intel_core_events{{"cpu-cycles", "event=0x3c"},
                              {"instructions", "event=0xc0"},
                              {"mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
                              {"slots", "event=0x00,umask=0x4"}};
const files intel_imc_format{{"event", "config:0-7"},
                             {"umask", "config:8-15"},
                             {"edge", "config:18"},
                             {"inv", "config:23"},
                             {"thresh", "config:24-31"}};

files in_mebibytes(const std::string& name, const std::string& terms) {
  return {{name, terms}, {name + ".scale", "6.103515625e-5"}, {name + ".unit", "MiB"}};
}
files in_joules(const std::string& name, const std::string& terms) {
  return {{name, terms}, {name + ".scale", "2.3283064365386962890625e-10"}, {name + ".unit", "Joules"}};
}

pmu_spec power(unsigned type, const std::string& cpumask, const files& events) {
  return {"power", type, cpumask, {}, {{"event", "config:0-7"}}, events};
}

}  // namespace

void set_online(const std::string& root, std::string_view cpus) {
  write_line(root + "/devices/system/cpu/online", cpus);
}

void write_pmu_tree(const std::string& root, const pmu_machine& machine) {
  set_online(root, machine.online);
  for (std::size_t cpu = 0; cpu < machine.seats.size(); ++cpu) {
    const auto topology = root + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology";
    write_line(topology + "/physical_package_id", std::to_string(machine.seats[cpu].package));
    write_line(topology + "/die_id", std::to_string(machine.seats[cpu].die));
  }
  for (const auto& p : machine.pmus) {
    const auto folder = root + "/bus/event_source/devices/" + p.name;
    write_line(folder + "/type", std::to_string(p.type));
    // Every PMU has it (kernel/events/core.c). Newer releases of libpfm4 (Debian 13) take a folder without it
    // for none, and then encode nothing.
    write_line(folder + "/perf_event_mux_interval_ms", "4");
    if (!p.cpumask.empty()) write_line(folder + "/cpumask", p.cpumask);
    if (!p.cpus.empty()) write_line(folder + "/cpus", p.cpus);
    for (const auto& [name, text] : p.format) write_line(folder + "/format/" + name, text);
    for (const auto& [name, text] : p.events) write_line(folder + "/events/" + name, text);
  }
}

namespace pmus {

pmu_machine xeon() {
  pmu_machine m{"0-3", {{0, 0}, {0, 0}, {1, 0}, {1, 0}}, {}};
  m.pmus.push_back({"cpu", 4, {}, {}, intel_core_format, intel_core_events});
  const auto imc = joined(in_mebibytes("cas_count_read", "event=0x05,umask=0xcf"),
                          in_mebibytes("cas_count_write", "event=0x05,umask=0xf0"));
  m.pmus.push_back({"uncore_imc_0", 21, "0,2", {}, intel_imc_format, imc});
  m.pmus.push_back({"uncore_imc_1", 22, "0,2", {}, intel_imc_format, imc});
  m.pmus.push_back(
      power(13, "0,2",
            joined(joined(in_joules("energy-pkg", "event=0x02"), in_joules("energy-ram", "event=0x03")),
                   in_joules("energy-psys", "event=0x05"))));
  m.pmus.push_back({"software", 1, {}, {}, {}, {}});
  return m;
}

pmu_machine granite_rapids() {
  auto m = xeon();
  for (auto& p : m.pmus) {
    if (!p.name.starts_with("uncore_imc")) continue;
    p.events = joined(joined(in_mebibytes("cas_count_read_sch0", "event=0x05,umask=0xcf"),
                             in_mebibytes("cas_count_read_sch1", "event=0x06,umask=0xcf")),
                      joined(in_mebibytes("cas_count_write_sch0", "event=0x05,umask=0xf0"),
                             in_mebibytes("cas_count_write_sch1", "event=0x06,umask=0xf0")));
  }
  return m;
}

pmu_machine client() {
  pmu_machine m{"0-3", {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {}};
  m.pmus.push_back({"cpu_core", 4, {}, "0-1", intel_core_format, intel_core_events});
  m.pmus.push_back({"cpu_atom", 10, {}, "2-3", intel_core_format, {{"cpu-cycles", "event=0x3c"}}});
  m.pmus.push_back({"uncore_imc_free_running_0",
                    30,
                    "0",
                    {},
                    {{"event", "config:0-7"}, {"umask", "config:8-15"}},
                    joined(in_mebibytes("data_read", "event=0xff,umask=0x20"),
                           in_mebibytes("data_write", "event=0xff,umask=0x30"))});
  m.pmus.push_back(power(
      31, "0",
      joined(joined(in_joules("energy-pkg", "event=0x02"), in_joules("energy-cores", "event=0x01")),
             joined(in_joules("energy-ram", "event=0x03"),
                    joined(in_joules("energy-gpu", "event=0x04"), in_joules("energy-psys", "event=0x05"))))));
  return m;
}

pmu_machine epyc() {
  pmu_machine m{"0-3", {{0, 0}, {0, 0}, {1, 0}, {1, 0}}, {}};
  m.pmus.push_back({"cpu",
                    4,
                    {},
                    {},
                    {{"event", "config:0-7,32-35"}, {"umask", "config:8-15"}, {"cmask", "config:24-31"}},
                    {{"cpu-cycles", "event=0x76"}, {"instructions", "event=0xc0"}}});
  m.pmus.push_back(
      {"amd_df", 11, "0,2", {}, {{"event", "config:0-7,32-37"}, {"umask", "config:8-15,24-27"}}, {}});
  for (unsigned i = 0; i < 2; ++i) {
    m.pmus.push_back({"amd_umc_" + std::to_string(i),
                      12 + i,
                      i == 0 ? "0" : "2",
                      {},
                      {{"event", "config:0-7"}, {"rdwrmask", "config:8-9"}},
                      {}});
  }
  m.pmus.push_back(power(20, "0,2", in_joules("energy-pkg", "event=0x02")));
  return m;
}

pmu_machine virtual_machine() {
  pmu_machine m{"0-1", {{0, 0}, {0, 0}}, {}};
  m.pmus.push_back({"software", 1, {}, {}, {}, {}});
  m.pmus.push_back(
      {"msr", 9, {}, {}, {{"event", "config:0-63"}}, {{"tsc", "event=0x00"}, {"smi", "event=0x04"}}});
  return m;
}

}  // namespace pmus

}  // namespace binnacle::support
