#include "agent/ipmi/sensor_choice.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace binnacle::ipmi {
namespace {

using std::chrono::milliseconds;

// States change only when somebody pulls a cable or the like. Reading them once in five seconds is soon
// enough.
constexpr std::uint32_t least_state_period_ms = 5'000;
constexpr std::uint32_t least_wanted_ms = 50;

bool has_any(const std::string& name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return name.find(part) != name.npos; });
}

bool fits_any(const std::vector<std::string>& patterns, const sensor& s) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& p) { return fits(p, s); });
}

sensor_role role_of_temperature(const sensor& s, const std::string& name) {
  // "P1 Therm Margin" and "DTS" are degrees below a limit, not temperatures.
  if (has_any(name, {"margin", "dts", "throt"})) return sensor_role::none;
  if (s.entity_id == 0x37 || s.entity_id == 0x40) return sensor_role::inlet;
  if (has_any(name, {"exit", "outlet", "exhaust"})) return sensor_role::none;
  if (has_any(name, {"inlet", "ambient", "front panel temp", "air in"})) return sensor_role::inlet;
  const bool part_of_it = has_any(name, {"vrm", "vr ", "vreg", "dimm", "mem", "hbm"});
  if (part_of_it) return sensor_role::none;
  if (s.entity_id == 0x03 || s.entity_id == 0x41) return sensor_role::cpu;
  return has_any(name, {"cpu", "proc"}) ? sensor_role::cpu : sensor_role::none;
}

// Whether these letters with a number behind them are in the name: "ps" in "CRPS3 Input".
bool has_numbered(const std::string& name, std::string_view letters) {
  for (auto at = name.find(letters); at != name.npos; at = name.find(letters, at + 1)) {
    const auto behind = at + letters.size();
    if (behind < name.size() && is_digit(name[behind])) return true;
  }
  return false;
}

// Whether these letters are a word of the name: "io" in "IO Total Power", but not in "Consumption".
bool has_word(const std::string& name, std::string_view word) {
  const auto is_letter = [&name](std::size_t at) { return name[at] >= 'a' && name[at] <= 'z'; };
  for (auto at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
    const auto behind = at + word.size();
    if ((at == 0 || !is_letter(at - 1)) && (behind == name.size() || !is_letter(behind))) return true;
  }
  return false;
}

sensor_role role_of_power(const sensor& s, const std::string& name) {
  if (s.origin == sensor_origin::dcmi) return sensor_role::system_power;
  // What a machine or a supply may draw, or drew once, is not what it draws.
  const bool is_bound = has_any(name, {"limit", "budget", "capacity", "capping", "threshold", "powercap",
                                       "pwrcap", "maximum", "minimum", "peak"}) ||
                        has_word(name, "cap") || has_word(name, "max") || has_word(name, "min") ||
                        has_word(name, "lim") || has_word(name, "rated");
  if (is_bound) return sensor_role::none;
  const bool of_supply = s.entity_id == 0x0a || has_any(name, {"psu", "power supply"}) ||
                         has_numbered(name, "ps") || has_numbered(name, "pmb");
  if (of_supply) return has_any(name, {"out"}) ? sensor_role::psu_output : sensor_role::psu_input;
  const bool part_of_it =
      has_any(name, {"cpu", "proc", "gpu", "accel", "mem", "dimm", "fan", "pcie", "riser", "switch"}) ||
      has_any(name, {"hdd", "ssd", "nvme", "disk", "drive", "raid", "storage", "backplane"}) ||
      has_any(name, {"network", "sysio"}) || has_word(name, "io") || has_word(name, "nic") ||
      has_word(name, "net") || has_word(name, "lan") || has_word(name, "ocp");
  // In a blade the chassis is the enclosure with all its machines.
  const bool more_than_it = has_any(name, {"chassis"});
  if (part_of_it || more_than_it) return sensor_role::none;
  return has_any(name, {"sys", "consumption", "total", "node", "power meter"}) ? sensor_role::system_power
                                                                               : sensor_role::none;
}

}  // namespace

sensor_role role_of(const sensor& s, std::span<const role_rule> rules) {
  for (const auto& rule : rules) {
    if (fits(rule.pattern, s)) return rule.role;
  }
  const auto name = lowered(s.name);
  if (s.kind == sensor_kind::temperature) return role_of_temperature(s, name);
  if (s.kind == sensor_kind::power) return role_of_power(s, name);
  return sensor_role::none;
}

bool on_default_list(const sensor& s, std::span<const sensor> inventory) {
  if (s.origin == sensor_origin::chassis) return true;
  if (s.origin == sensor_origin::dcmi && s.kind == sensor_kind::temperature) {
    return std::none_of(inventory.begin(), inventory.end(), [&](const sensor& other) {
      return other.origin == sensor_origin::sdr && other.kind == s.kind && other.role == s.role;
    });
  }
  return s.kind == sensor_kind::temperature || s.kind == sensor_kind::fan || s.kind == sensor_kind::power;
}

std::vector<read_schedule::wish> choose(std::span<const sensor> inventory, const wanted_sensors& selected,
                                        const interest& waited_for) {
  std::vector<read_schedule::wish> all;
  for (const auto& s : inventory) {
    const auto wanted = waited_for.period_ms.find(s.key);
    if (wanted != waited_for.period_ms.end()) {
      all.push_back({s.key, milliseconds(std::max(wanted->second, least_wanted_ms)), true});
      continue;
    }
    const bool read = fits_any(selected.include, s) || (selected.defaults && on_default_list(s, inventory));
    if (!read || fits_any(selected.exclude, s)) continue;
    const auto least = s.kind == sensor_kind::state ? least_state_period_ms : least_wanted_ms;
    all.push_back({s.key, milliseconds(std::max(selected.period_ms, least)), false});
  }
  return all;
}

}  // namespace binnacle::ipmi
