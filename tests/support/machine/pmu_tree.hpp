#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::support {

/// A PMU as the kernel shows it on its event_source bus. An empty text: there is no such file.
struct pmu_spec {
  std::string name;
  unsigned type = 0;
  std::string cpumask;  ///< only for PMUs outside the cores
  std::string cpus;     ///< on a hybrid machine: the CPUs of this kind
  std::vector<std::pair<std::string, std::string>> format;
  std::vector<std::pair<std::string, std::string>> events;  ///< also "name.scale" and "name.unit"
};

struct pmu_machine {
  std::string online;  ///< "0-3"
  /// Package and die of each CPU, for devices/system/cpu/cpuN/topology.
  struct seat {
    unsigned package = 0, die = 0;
  };
  std::vector<seat> seats;
  std::vector<pmu_spec> pmus;
};

/// Makes ROOT/devices/system/cpu and ROOT/bus/event_source/devices.
void write_pmu_tree(const std::string& root, const pmu_machine& machine);
/// Writes the list of online CPUs again.
void set_online(const std::string& root, std::string_view cpus);

/// PMUs of real machine types, with a few of their boxes. The texts follow the kernel's drivers:
/// arch/x86/events/intel/{core,uncore_snb,uncore_snbep}.c, arch/x86/events/amd/{core,uncore}.c,
/// arch/x86/events/rapl.c (Linux 6.8 to 6.19).
namespace pmus {
pmu_machine xeon();            ///< Sapphire Rapids, two sockets of two CPUs, two memory channels each, power
pmu_machine granite_rapids();  ///< each channel has two halves with names of their own
pmu_machine client();  ///< hybrid: cores 0-1 of one kind, 2-3 of the other; free-running memory counters
pmu_machine epyc();    ///< Zen 4: memory controllers without names, power with energy-pkg only
pmu_machine virtual_machine();  ///< software and msr
}  // namespace pmus

}  // namespace binnacle::support
