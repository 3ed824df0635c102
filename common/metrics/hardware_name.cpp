#include "common/metrics/hardware_name.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace binnacle::metrics {
namespace {

/// OpenTelemetry's name for one family, or for those series of the family whose label `zone` has this value.
struct hardware_entry {
  std::string_view family;
  std::string_view zone;  // empty: all series of the family
  std::string_view metric;
  std::string_view type;                    // hw.type
  std::string_view source;                  // how hw.id begins, since two sources may use the same names
  std::array<std::string_view, 2> id = {};  // labels whose values are the rest of hw.id
  std::string_view location = {};           // hw.sensor_location
};

// Whole machines have metrics of their own. Parts of a package (core, uncore) keep our names, and so does
// psys, which includes the packages. The BMC's power sensors keep our names, too, because some of them
// measure the same power as others.
constexpr hardware_entry hardware[] = {
    {"host_power_watts", "", "hw.host.power", "", "host"},
    {"host_inlet_temperature_celsius", "", "hw.host.ambient_temperature", "", "host"},
    {"rapl_power_watts", "", "hw.power", "cpu", "package", {"package"}},
    {"rapl_zone_power_watts", "dram", "hw.power", "memory", "dram", {"package"}},
    {"rapl_energy_joules_total", "package", "hw.energy", "cpu", "package", {"package"}},
    {"rapl_energy_joules_total", "dram", "hw.energy", "memory", "dram", {"package"}},
    {"bmc_temperature_celsius", "", "hw.temperature", "temperature", "bmc", {"sensor"}},
    {"bmc_cpu_temperature_celsius", "", "hw.temperature", "temperature", "bmc", {"sensor"}, "CPU"},
    {"bmc_inlet_temperature_celsius", "", "hw.temperature", "temperature", "bmc", {"sensor"}, "INLET"},
    {"os_cpu_temperature_celsius", "", "hw.temperature", "temperature", "hwmon", {"chip", "sensor"}, "CPU"},
    {"os_disk_temperature_celsius", "", "hw.temperature", "temperature", "disk", {"disk", "sensor"}, "DISK"},
    {"os_hwmon_temperature_celsius", "", "hw.temperature", "temperature", "hwmon", {"chip", "sensor"}},
    {"os_thermal_zone_temperature_celsius", "", "hw.temperature", "temperature", "thermal_zone", {"zone"}},
    {"bmc_fan_rpm", "", "hw.fan.speed", "fan", "bmc", {"sensor"}},
    {"bmc_fan_ratio", "", "hw.fan.speed_ratio", "fan", "bmc", {"sensor"}},
    {"os_hwmon_fan_speed_rpm", "", "hw.fan.speed", "fan", "hwmon", {"chip", "sensor"}},
};

struct meaning {
  std::string_view metric, description;
};
constexpr meaning meanings[] = {
    {"hw.energy", "Energy consumed by the component."},
    {"hw.fan.speed", "Fan speed in revolutions per minute."},
    {"hw.fan.speed_ratio", "Fan speed expressed as a fraction of its maximum speed."},
    {"hw.host.ambient_temperature", "Ambient (external) temperature of the physical host."},
    {"hw.host.power", "Instantaneous power consumed by the entire physical host in Watts."},
    {"hw.power", "Instantaneous power consumed by the component."},
    {"hw.temperature", "Temperature in degrees Celsius."},
};
consteval bool every_name_has_a_meaning() {
  return std::ranges::all_of(hardware, [](const hardware_entry& e) {
    return std::ranges::find(meanings, e.metric, &meaning::metric) != std::end(meanings);
  });
}
static_assert(every_name_has_a_meaning());

struct unit_names {
  std::string_view ours, ucum;
};
constexpr unit_names units[] = {
    {"watts", "W"},   {"joules", "J"}, {"celsius", "Cel"},
    {"ratio", "1"},   {"bytes", "By"}, {"bytes_per_second", "By/s"},
    {"seconds", "s"}, {"hertz", "Hz"}, {"volts", "V"},
    {"amperes", "A"}, {"rpm", "rpm"},  {"per_second", "1/s"},
};

}  // namespace

std::optional<hardware_name> hardware_name_of(std::string_view family, const label_set& labels) {
  const auto* e = std::ranges::find_if(hardware, [&](const hardware_entry& one) {
    return one.family == family && (one.zone.empty() || one.zone == label_of(labels, "zone"));
  });
  if (e == std::end(hardware)) return std::nullopt;
  hardware_name out{e->metric, std::ranges::find(meanings, e->metric, &meaning::metric)->description, {}};
  std::string id(e->source), name(e->source);
  for (const std::string_view label : e->id) {
    const std::string_view value = label_of(labels, label);
    if (value.empty()) continue;
    id.append("/").append(value);
    name.append(" ").append(value);
  }
  out.attributes.emplace_back("hw.id", std::move(id));
  out.attributes.emplace_back("hw.name", std::move(name));
  if (!e->type.empty()) out.attributes.emplace_back("hw.type", e->type);
  if (!e->location.empty()) out.attributes.emplace_back("hw.sensor_location", e->location);
  return out;
}

std::vector<hardware_class> hardware_classes_of(std::string_view family, std::string_view zone) {
  std::vector<hardware_class> out;
  bool all = false;  // all series of the family have one of these names
  for (const hardware_entry& e : hardware) {
    if (e.family != family || !(e.zone.empty() || zone.empty() || e.zone == zone)) continue;
    out.push_back({e.metric, e.type, e.source, e.location});
    all = all || e.zone.empty() || !zone.empty();
  }
  if (!all) out.push_back({});
  return out;
}

std::string_view ucum(std::string_view unit) noexcept {
  const auto* at = std::ranges::find(units, unit, &unit_names::ours);
  return at == std::end(units) ? std::string_view() : at->ucum;
}

}  // namespace binnacle::metrics
