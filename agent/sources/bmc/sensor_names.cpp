#include "agent/sources/bmc/sensor_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::agent {
namespace {

using ipmi::sensor_kind;
using ipmi::sensor_role;

bool has_upper_threshold(const ipmi::sensor& s) {
  return s.limits.upper_non_critical || s.limits.upper_critical || s.limits.upper_non_recoverable;
}

bool gives(const ipmi::sensor& s, std::string_view family) {
  if (family == family_of(s)) return true;
  if (family == "bmc_inlet_temperature_celsius") return s.role == sensor_role::inlet;
  if (family == "bmc_cpu_temperature_celsius") return s.role == sensor_role::cpu;
  if (family == "bmc_temperature_margin_celsius") {
    return s.kind == sensor_kind::temperature && has_upper_threshold(s);
  }
  if (family.starts_with("bmc_dcmi_")) return s.key == "dcmi.power";
  if (family == "bmc_chassis_cooling_fault" || family == "bmc_chassis_drive_fault") {
    return s.key == "chassis.power";
  }
  if (family == "bmc_sensor_state") return s.kind != sensor_kind::state && s.limits != ipmi::thresholds{};
  return false;
}

std::string entity_of(const ipmi::sensor& s) { return fmt::format("{} {}", s.entity, s.instance); }

}  // namespace

std::string_view family_of(const ipmi::sensor& s) noexcept {
  if (s.key == "chassis.power") return "bmc_chassis_power_on";
  if (s.key == "dcmi.power") return "bmc_dcmi_power_watts";
  switch (s.kind) {
    case sensor_kind::temperature: return "bmc_temperature_celsius";
    case sensor_kind::fan: return s.unit == "percent" ? "bmc_fan_ratio" : "bmc_fan_rpm";
    case sensor_kind::voltage: return "bmc_voltage_volts";
    case sensor_kind::current: return "bmc_current_amperes";
    case sensor_kind::power: return "bmc_power_watts";
    case sensor_kind::state: return "bmc_state_asserted";
    case sensor_kind::other: break;
  }
  return "bmc_sensor_value";
}

std::map<std::string, sensor_name> names_of(std::span<const ipmi::sensor> all) {
  using form = std::pair<sensor_kind, std::string>;
  std::map<form, int> plain, with_entity;
  const auto longer = [](const ipmi::sensor& s) { return fmt::format("{} ({})", s.name, entity_of(s)); };
  for (const auto& s : all) {
    ++plain[{s.kind, s.name}];
    ++with_entity[{s.kind, longer(s)}];
  }
  std::map<std::string, sensor_name> names;
  for (const auto& s : all) {
    std::string name = s.name;
    if (name.empty()) {
      name = s.key;
    } else if (plain[{s.kind, s.name}] > 1) {
      name = with_entity[{s.kind, longer(s)}] > 1 ? fmt::format("{} ({})", s.name, s.key) : longer(s);
    }
    names.emplace(s.key, sensor_name{std::move(name), entity_of(s), s.key});
  }
  return names;
}

std::map<std::string, std::string_view> power_scopes(std::span<const ipmi::sensor> all) {
  const ipmi::sensor* system = nullptr;
  for (const auto& s : all) {
    if (family_of(s) != "bmc_power_watts" || s.role != sensor_role::system_power) continue;
    if (system == nullptr || s.number < system->number) system = &s;
  }
  std::map<std::string, std::string_view> scopes;
  if (system != nullptr) scopes.emplace(system->key, "node");
  for (const auto& s : all) {
    if (family_of(s) == "bmc_power_watts" && s.role == sensor_role::psu_input)
      scopes.emplace(s.key, system != nullptr ? "supply" : "node");
  }
  return scopes;
}

std::map<std::string, std::uint32_t> keys_wanted(std::span<const ipmi::sensor> all,
                                                 const wire::interest& families,
                                                 std::span<const std::string> excluded) {
  std::map<std::string, std::uint32_t> wanted;
  for (const auto& w : families.wishes) {
    for (const auto& s : all) {
      const auto takes = [&s](const std::string& glob) { return ipmi::fits(glob, s); };
      if (!gives(s, w.family) || std::any_of(excluded.begin(), excluded.end(), takes)) continue;
      const auto [at, fresh] = wanted.emplace(s.key, w.period_ms);
      if (!fresh) at->second = std::min(at->second, w.period_ms);
    }
  }
  return wanted;
}

std::string unmatched(const ipmi::wanted_sensors& patterns, std::span<const ipmi::sensor> all) {
  const auto fits_none = [&](const std::string& glob) {
    return std::none_of(all.begin(), all.end(), [&](const auto& s) { return ipmi::fits(glob, s); });
  };
  const auto sentence = [&](std::string_view setting, const std::string& glob) {
    return fmt::format("{}: \"{}\" fits none of the BMC's {} sensors: mend it or take it out", setting, glob,
                       all.size());
  };
  for (const auto& glob : patterns.include) {
    if (fits_none(glob)) return sentence("bmc-sensors", glob);
  }
  for (const auto& glob : patterns.exclude) {
    if (fits_none(glob)) return sentence("bmc-exclude", glob);
  }
  for (const auto& rule : patterns.roles) {
    if (fits_none(rule.pattern)) return sentence("bmc-roles", rule.pattern);
  }
  return {};
}

}  // namespace binnacle::agent
