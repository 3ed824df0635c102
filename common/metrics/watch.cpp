#include "common/metrics/watch.hpp"

#include <algorithm>

namespace binnacle::metrics {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view power_parts[] = {"bmc_dcmi_power_watts",    "bmc_power_watts",
                                            "rapl_zone_power_watts",   "rapl_power_watts",
                                            "os_powercap_power_watts", "os_hwmon_power_watts"};
constexpr std::string_view inlet_parts[] = {"bmc_inlet_temperature_celsius", "os_hwmon_temperature_celsius",
                                            "os_thermal_zone_temperature_celsius"};

struct entry {
  std::string_view family;
  milliseconds period;
  std::span<const std::string_view> parts = {};
};

// The families that are not read once a second. Energy counters cost nothing to read, and watts of a whole
// second come late.
constexpr milliseconds energy{200};
constexpr entry table[] = {
    {"host_inlet_temperature_celsius", milliseconds(1000), inlet_parts},
    {"host_power_watts", energy, power_parts},
    {"rapl_energy_joules_total", energy},
    {"rapl_headroom_ratio", energy},
    {"rapl_power_watts", energy},
    {"rapl_tdp_utilization_ratio", energy},
    {"rapl_zone_power_watts", energy},
};

const entry* entry_of(std::string_view family) noexcept {
  const auto at = std::ranges::find(table, family, &entry::family);
  return at == std::ranges::end(table) ? nullptr : at;
}

}  // namespace

milliseconds watched_period(std::string_view family) noexcept {
  const entry* e = entry_of(family);
  return e != nullptr ? e->period : milliseconds(1000);
}

std::span<const std::string_view> made_of(std::string_view family) noexcept {
  const entry* e = entry_of(family);
  return e != nullptr ? e->parts : std::span<const std::string_view>();
}

}  // namespace binnacle::metrics
