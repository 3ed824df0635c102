#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::support {

/// A constraint as in the kernel's files. If `max_power_uw` is absent, there is no such file.
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
  std::optional<unsigned> index;  ///< number in the folder name; nothing: the previous sibling's plus one
};

/// Makes ROOT/devices/virtual/powercap/intel-rapl with these zones, and ROOT/class/powercap with links into
/// it, as the kernel has both below /sys. `control_type` may be another one ("intel-rapl-mmio").
void write_powercap_tree(const std::string& root, const std::vector<zone_spec>& zones,
                         const std::string& control_type = "intel-rapl");

/// What a container sees on a machine with RAPL: the class links point into a folder that the container
/// runtime has covered with an empty one. Source: the default masked paths of moby, containerd, CRI-O and
/// kubelet (/sys/devices/virtual/powercap, CVE-2020-8694).
void write_masked_powercap(const std::string& root);

/// Makes every energy_uj of the tree readable only by its owner, as in Linux 5.10 and later.
void restrict_energy(const std::string& root);

/// Folder of a zone below ROOT, by its numbers: zone_folder({0, 1}) is ".../intel-rapl:0/intel-rapl:0:1".
std::string zone_folder(const std::vector<unsigned>& numbers);

/// The zones of real machine types. They are written after the kernel's drivers, not copied from a machine.
/// Zone and constraint names: drivers/powercap/intel_rapl_common.c (rapl_domain_names, pl_names,
/// "package-%d", "package-%d-die-%d"). Which zones a model has: rapl_defaults and the feature bits of
/// intel_rapl_msr.c. Ranges: 2^32 energy units (61.04 µJ client and server package, 15.3 µJ server dram and
/// AMD). Watts and limits: the makers' data sheets of the model named.
namespace machines {
/// Xeon Gold 6248R (Cascade Lake): packages with core and dram, and psys; TDP 205 W.
std::vector<zone_spec> xeon_two_sockets();
/// Xeon Platinum 9282-like (Cascade Lake AP): two packages of two dies, each die a zone with dram; 350 W.
std::vector<zone_spec> xeon_dies();
/// Core i7-1165G7 (Tiger Lake): core, uncore, psys; 28 W; constraint peak_power; limits above the TDP; no
/// max_power_uw of short_term (reading it gives ENODATA).
std::vector<zone_spec> client();
std::vector<zone_spec> epyc();              ///< EPYC 7763 (Milan): package and core only, no constraints
std::vector<zone_spec> sixteen_packages();  ///< numbers reach "f"; number 3 is missing
}  // namespace machines

enum class machine_kind { xeon_two_sockets, xeon_dies, client, epyc, sixteen_packages };
std::vector<zone_spec> zones_of(machine_kind kind);

}  // namespace binnacle::support
