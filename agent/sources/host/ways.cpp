#include "agent/sources/host/ways.hpp"

#include <chrono>

namespace binnacle::agent {
namespace {

using metrics::member;
using namespace std::chrono_literals;

constexpr member dcmi[] = {{"bmc_dcmi_power_watts"}};
constexpr member dcmi_window[] = {
    {"bmc_dcmi_average_power_watts"}, {"bmc_dcmi_minimum_power_watts"}, {"bmc_dcmi_maximum_power_watts"}};
constexpr member bmc_power[] = {{"bmc_power_watts", "scope", "node"}};
constexpr member supplies[] = {{"bmc_power_watts", "scope", "supply"}};
constexpr member psys[] = {{"rapl_zone_power_watts", "zone", "psys"}};
constexpr member psys_energy[] = {{"rapl_energy_joules_total", "zone", "psys"}};
// Dram has a meter of its own. Core and uncore are parts of the package, so they are not added.
constexpr member rapl[] = {{"rapl_power_watts"}, {"rapl_zone_power_watts", "zone", "dram"}};
constexpr member of_packages[] = {
    {"rapl_energy_joules_total", "zone", "package"}, {"rapl_headroom_ratio"}, {"rapl_tdp_utilization_ratio"}};
constexpr member in_packages[] = {{"rapl_zone_power_watts", "zone", "core"},
                                  {"rapl_zone_power_watts", "zone", "uncore"}};
constexpr member scmi[] = {{"os_powercap_power_watts", "chip", "arm-scmi"}};
constexpr member in_zones[] = {{"os_powercap_part_power_watts", "chip", "arm-scmi"}};
constexpr member chip_power[] = {{"os_hwmon_power_watts"}};
constexpr member inlet[] = {{"bmc_inlet_temperature_celsius"}};
constexpr member chips[] = {{"os_hwmon_temperature_celsius"}};
constexpr member zones[] = {{"os_thermal_zone_temperature_celsius"}};

// A BMC's value is a mean of up to a minute, while psys is an energy counter like those of the packages. DCMI
// may be measured behind the supplies, which lose a tenth and more, and a supply's sensor has coarse steps.
constexpr whole_machine_check::settings slowly{.below_for = 60s, .may_hang = false};
constexpr whole_machine_check::settings quickly{.below_for = 10s, .may_hang = false, .longest_gap = 5s};
constexpr whole_machine_check::settings slowly_or_hanging{.below_for = 60s, .collapsed_share = 0.1};
constexpr whole_machine_check::settings same_thing{.below_for = 60s,
                                                   .may_hang = false,
                                                   .lower = disbelief::below_other,
                                                   .tolerance = 0.20,
                                                   .tolerance_watts = 20};
// Supplies may feed other machines of their enclosure, too. So beside them a sensor of one machine must be
// far too low: that of a network card, say, which is called "NIC Total Power".
constexpr whole_machine_check::settings far_below{.below_for = 60s,
                                                  .may_hang = false,
                                                  .lower = disbelief::below_other,
                                                  .tolerance = 1 - far_share,
                                                  .tolerance_watts = 0};
// No machine draws so much more than two of its meters say. A smaller difference may be a supply that both
// lack.
constexpr whole_machine_check::settings far_above{.below_for = 60s,
                                                  .may_hang = false,
                                                  .lower = disbelief::above_others,
                                                  .tolerance = 1 - far_share,
                                                  .tolerance_watts = 0};
constexpr comparison of_dcmi[] = {
    {"", slowly_or_hanging}, {"psys", slowly}, {"bmc", same_thing}, {"bmc", far_above}};
constexpr comparison of_bmc[] = {{"", slowly_or_hanging},
                                 {"psys", slowly},
                                 {"dcmi", same_thing},
                                 {"dcmi", far_above},
                                 {"supplies", far_below}};
constexpr comparison of_supplies[] = {
    {"", slowly_or_hanging}, {"psys", slowly}, {"dcmi", same_thing}, {"bmc", same_thing}};
constexpr comparison of_psys[] = {{"", quickly}};
constexpr comparison of_rapl[] = {{"rapl", quickly}};
constexpr comparison of_scmi[] = {{.with = "hwmon", .how = same_thing, .usual_sensors = true},
                                  {"arm-scmi", slowly}};
constexpr comparison of_chips[] = {{"rapl", slowly}};
constexpr way power_ways[] = {
    {.source = "dcmi", .parts = dcmi, .compared = of_dcmi, .sisters = dcmi_window},
    {.source = "bmc", .parts = bmc_power, .bays = true, .looked_for = "bmc_sensors", .compared = of_bmc},
    {.source = "supplies", .parts = supplies, .bays = true, .witness = true, .compared = of_supplies},
    {.source = "psys",
     .parts = psys,
     .of = platform,
     .counter = true,
     .one_counts = true,
     .compared = of_psys,
     .sisters = psys_energy},
    {.source = "rapl",
     .parts = rapl,
     .of = packages,
     .counter = true,
     .compared = of_rapl,
     .inside = {in_packages, "package", "package"},
     .sisters = of_packages},
    {.source = "arm-scmi",
     .parts = scmi,
     .of = firmware_zones,
     .parts_on = true,
     .compared = of_scmi,
     .inside = {in_zones, "inside", "zone"}},
    {.source = "hwmon",
     .parts = chip_power,
     .of = chips_named,
     .named = true,
     .parts_on = true,
     .compared = of_chips}};
constexpr way inlet_ways[] = {{.source = "bmc", .parts = inlet, .sum = false},
                              {.source = "hwmon", .parts = chips, .sum = false, .named = true},
                              {.source = "thermal_zone", .parts = zones, .sum = false, .named = true}};

}  // namespace

std::vector<whole_machine_check> way::checks() const {
  std::vector<whole_machine_check> out;
  for (const auto& c : compared) out.emplace_back(c.how);
  return out;
}

constexpr std::array<composite, 2> composites{
    composite{"host_power_watts", "power", power_ways},
    composite{"host_inlet_temperature_celsius", "inlet_temperature", inlet_ways},
};

}  // namespace binnacle::agent
