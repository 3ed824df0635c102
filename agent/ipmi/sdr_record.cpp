#include "agent/ipmi/sdr_record.hpp"

#include "agent/ipmi/packed_name.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>
#include <freeipmi/freeipmi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace binnacle::ipmi {
namespace {

constexpr std::uint8_t bmc_address = 0x20;

struct release {
  void operator()(double* d) const noexcept { std::free(d); }
};
using owned_double = std::unique_ptr<double, release>;

// Parses one record. How many sensors share it is not known yet.
struct parser {
  ipmi_sdr_ctx_t context;
  const void* data;
  unsigned length;

  bool fill(known_sensor& s, std::uint8_t record_type) const {
    std::uint8_t owner_type = 0, owner = 0, lun = 0, channel = 0, number = 0, entity = 0, instance = 0,
                 relative = 0;
    if (::ipmi_sdr_parse_sensor_owner_id(context, data, length, &owner_type, &owner) < 0 ||
        ::ipmi_sdr_parse_sensor_owner_lun(context, data, length, &lun, &channel) < 0 ||
        ::ipmi_sdr_parse_sensor_number(context, data, length, &number) < 0 ||
        ::ipmi_sdr_parse_entity_id_instance_type(context, data, length, &entity, &instance, &relative) < 0 ||
        ::ipmi_sdr_parse_event_reading_type_code(context, data, length, &s.event_type) < 0 ||
        ::ipmi_sdr_parse_sensor_type(context, data, length, &s.type) < 0) {
      return false;
    }
    constexpr std::uint8_t by_slave_address = 0;
    if (owner_type != by_slave_address || (owner << 1) != bmc_address) return false;
    s.lun = lun;
    s.about.number = number;
    s.about.entity_id = entity;
    s.about.instance = instance;
    s.about.key = fmt::format("{:02x}.{}.{:02x}", bmc_address, lun, number);
    if (is_analog(s, record_type)) {
      set_unit(s);
      set_thresholds(s);
    } else {
      s.about.kind = sensor_kind::state;
      s.about.unit = "state";
    }
    return true;
  }

  bool is_analog(known_sensor& s, std::uint8_t record_type) const {
    if (record_type != IPMI_SDR_FORMAT_FULL_SENSOR_RECORD) return false;
    auto& f = s.factors;
    return s.event_type == IPMI_EVENT_READING_TYPE_CODE_THRESHOLD &&
           ::ipmi_sdr_parse_sensor_decoding_data(context, data, length, &f.r_exponent, &f.b_exponent, &f.m,
                                                 &f.b, &f.linearization, &f.format) == 0 &&
           f.format != not_analog;
  }

  void set_unit(known_sensor& s) const {
    std::uint8_t percentage = 0, modifier = 0, rate = 0, base = 0, modifier_unit = 0;
    if (::ipmi_sdr_parse_sensor_units(context, data, length, &percentage, &modifier, &rate, &base,
                                      &modifier_unit) < 0) {
      return;
    }
    const bool fan = s.type == IPMI_SENSOR_TYPE_FAN;
    if (percentage != 0) {
      s.about.unit = "percent";
      s.about.kind = fan ? sensor_kind::fan : sensor_kind::other;
      return;
    }
    const bool plain = rate == 0 && modifier == 0;
    if (plain && (base == IPMI_SENSOR_UNIT_DEGREES_C || base == IPMI_SENSOR_UNIT_DEGREES_F ||
                  base == IPMI_SENSOR_UNIT_DEGREES_K)) {
      s.about.kind = sensor_kind::temperature;
      s.about.unit = "celsius";
      s.fahrenheit = base == IPMI_SENSOR_UNIT_DEGREES_F;
      s.kelvin = base == IPMI_SENSOR_UNIT_DEGREES_K;
    } else if (plain && base == IPMI_SENSOR_UNIT_RPM) {
      s.about.kind = sensor_kind::fan;
      s.about.unit = "rpm";
    } else if (plain && base == IPMI_SENSOR_UNIT_VOLTS) {
      s.about.kind = sensor_kind::voltage;
      s.about.unit = "volts";
    } else if (plain && base == IPMI_SENSOR_UNIT_AMPS) {
      s.about.kind = sensor_kind::current;
      s.about.unit = "amperes";
    } else if (plain && base == IPMI_SENSOR_UNIT_WATTS) {
      s.about.kind = sensor_kind::power;
      s.about.unit = "watts";
    } else {
      std::array<char, 128> text{};
      ::ipmi_sensor_units_string(percentage, modifier, rate, base, modifier_unit, text.data(),
                                 text.size() - 1, 0);
      s.about.unit = text.data();
      s.about.kind = sensor_kind::other;
    }
  }

  void set_thresholds(known_sensor& s) const {
    std::array<std::uint8_t, 6> readable{};
    if (::ipmi_sdr_parse_threshold_readable(context, data, length, &readable[0], &readable[1], &readable[2],
                                            &readable[3], &readable[4], &readable[5]) < 0) {
      return;
    }
    std::array<double*, 6> raw{};
    const bool parsed = ::ipmi_sdr_parse_thresholds(context, data, length, &raw[0], &raw[1], &raw[2], &raw[3],
                                                    &raw[4], &raw[5]) == 0;
    auto& t = s.about.limits;
    const std::array<std::optional<double>*, 6> into{&t.lower_non_critical,    &t.lower_critical,
                                                     &t.lower_non_recoverable, &t.upper_non_critical,
                                                     &t.upper_critical,        &t.upper_non_recoverable};
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const owned_double value(raw[i]);
      if (parsed && value && readable[i] != 0) *into[i] = in_unit(s, *value);
    }
  }

  /// The name where it is in packed 6-bit ASCII; empty where it is not.
  std::string packed_name(std::uint8_t record_type) const {
    // Where the byte with the name's type and length stands: IPMI 2.0, tables 43-1 and 43-2.
    const std::size_t at = record_type == IPMI_SDR_FORMAT_FULL_SENSOR_RECORD ? 47 : 31;
    const auto bytes = std::span(static_cast<const std::uint8_t*>(data), length);
    constexpr std::uint8_t six_bits = 2;
    if (at >= bytes.size() || bytes[at] >> 6 != six_bits) return {};
    const auto text = bytes.subspan(at + 1);
    return unpacked_name(text.first(std::min<std::size_t>(text.size(), bytes[at] & 0x1f)));
  }

  std::string name(std::uint8_t number) const {
    std::array<char, IPMI_SDR_MAX_SENSOR_NAME_LENGTH + 1> text{};
    ::ipmi_sdr_parse_sensor_name(context, data, length, number, 0, text.data(), text.size() - 1);
    std::string name(text.data());
    name.erase(name.find_last_not_of(" \t") + 1);
    return name;
  }
};

}  // namespace

double in_unit(const known_sensor& s, double value) noexcept {
  if (s.fahrenheit) return (value - 32) * 5 / 9;
  if (s.kelvin) return value - 273.15;
  return value;
}

std::string entity_word(std::uint8_t id) {
  // FreeIPMI's list has the ids of IPMI 2.0, table 43-13, in order. DCMI added the ids from 0x40 on.
  if (id == 0x37 || id == 0x40) return "air inlet";
  if (id == 0x41) return "processor";
  if (id == 0x42) return "system board";
  if (IPMI_ENTITY_ID_IS_CHASSIS_SPECIFIC(id)) return "chassis-specific";
  if (IPMI_ENTITY_ID_IS_BOARD_SET_SPECIFIC(id)) return "board-set-specific";
  if (IPMI_ENTITY_ID_IS_OEM_SYSTEM_INTEGRATOR_DEFINED(id)) return "oem";
  if (id > IPMI_ENTITY_ID_REAL_TIME_CLOCK) return fmt::format("entity {}", id);
  return lowered(std::string_view(::ipmi_entity_ids[id]));
}

std::vector<known_sensor> sensors_of(ipmi_sdr_ctx_t context, std::span<const std::uint8_t> record) {
  std::vector<known_sensor> all;
  const parser p{context, record.data(), static_cast<unsigned>(record.size())};
  std::uint16_t id = 0;
  std::uint8_t type = 0;
  if (::ipmi_sdr_parse_record_id_and_type(context, p.data, p.length, &id, &type) < 0) return all;
  const bool compact = type == IPMI_SDR_FORMAT_COMPACT_SENSOR_RECORD;
  if (type != IPMI_SDR_FORMAT_FULL_SENSOR_RECORD && !compact) return all;

  known_sensor first;
  if (!p.fill(first, type)) return all;
  first.about.record = id;
  first.about.entity = entity_word(static_cast<std::uint8_t>(first.about.entity_id));
  first.record.assign(record.begin(), record.end());

  std::uint8_t share = 1, modifier = 0, modifier_offset = 0, own_instance = 0;
  if (compact) {
    ::ipmi_sdr_parse_sensor_record_sharing(context, p.data, p.length, &share, &modifier, &modifier_offset,
                                           &own_instance);
  }
  const auto lun_part = first.about.key.substr(0, first.about.key.rfind('.') + 1);
  for (std::uint8_t i = 0; i < std::max<std::uint8_t>(share, 1); ++i) {
    auto s = first;
    s.offset = i;
    s.about.number = (first.about.number + i) & 0xffu;
    s.about.key = lun_part + fmt::format("{:02x}", s.about.number);
    if (own_instance != 0) s.about.instance = first.about.instance + i;
    s.about.name = p.packed_name(type);
    if (s.about.name.empty())
      s.about.name = p.name(static_cast<std::uint8_t>(s.about.number));
    else if (share > 1)
      s.about.name += fmt::format(" {}", modifier_offset + i);
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace binnacle::ipmi
