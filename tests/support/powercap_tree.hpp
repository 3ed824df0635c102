#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::support {

/// A constraint as the kernel's files say it; `max_power_uw` absent: the file is not there.
struct constraint_spec {
  std::string name;
  std::uint64_t power_limit_uw = 0;
  std::uint64_t time_window_us = 976;
  std::optional<std::uint64_t> max_power_uw;
};

struct zone_spec {
  std::string name;
  std::uint64_t energy_uj = 0;
  std::uint64_t range_uj = 262'143'328'850;
  std::vector<constraint_spec> constraints;
  std::vector<zone_spec> parts;
  std::optional<unsigned> index;  ///< number in the folder name; nothing: one more than its elder sister's
};

/// Makes ROOT/devices/virtual/powercap/intel-rapl with these zones and ROOT/class/powercap with links into
/// it, as the kernel has them below /sys. `control_type` may be another one ("intel-rapl-mmio").
void write_powercap_tree(const std::string& root, const std::vector<zone_spec>& zones,
                         const std::string& control_type = "intel-rapl");

/// Folder of a zone below ROOT, by its numbers: zone_folder({0, 1}) is ".../intel-rapl:0/intel-rapl:0:1".
std::string zone_folder(const std::vector<unsigned>& numbers);

/// Zones as such machines have them: names, constraints, counter ranges and TDPs after the kernel's driver
/// and the makers' data sheets.
namespace machines {
std::vector<zone_spec> xeon_two_sockets();  ///< packages with core and dram, and psys; 205 W
std::vector<zone_spec> xeon_dies();         ///< two packages of two dies each, dram; 350 W
std::vector<zone_spec> client();  ///< core, uncore, psys; 28 W; constraint peak_power; limits above the TDP
std::vector<zone_spec> epyc();    ///< AMD: package and core only, no constraints
std::vector<zone_spec> sixteen_packages();  ///< numbers reach "f"; a hole at 3
}  // namespace machines

/// By name as the functions above ("xeon_two_sockets"); empty for any other name.
std::vector<zone_spec> machine_named(const std::string& name);

}  // namespace binnacle::support
