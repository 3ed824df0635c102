#include "agent/ipmi/sensor_reader.hpp"

#include "agent/ipmi/fiid.hpp"
#include "agent/ipmi/sdr_record.hpp"

#include <fmt/format.h>
#include <freeipmi/freeipmi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

namespace binnacle::ipmi {
namespace {

using outcome = sensor_reader::outcome;

// DCMI has entity ids of its own for temperatures. Source: DCMI 1.5, table 6-24.
struct dcmi_entity {
  std::uint8_t id;
  std::string_view key;
  std::string_view name;
};
constexpr std::array<dcmi_entity, 3> dcmi_entities = {
    {{0x40, "inlet", "DCMI Inlet"}, {0x41, "cpu", "DCMI CPU"}, {0x42, "board", "DCMI Baseboard"}}};
constexpr std::uint8_t temperature = 0x01;   // sensor type
constexpr std::uint64_t most_instances = 8;  // of one entity

// The state bits of "chassis.power": FreeIPMI's names for the fields of IPMI 2.0, 28.2, and our words for
// them.
struct chassis_bit {
  const char* field;
  std::string_view word;
};
constexpr std::array<chassis_bit, 9> chassis_bits = {{
    {"current_power_state.power_is_on", "on"},
    {"current_power_state.power_overload", "power overload"},
    {"current_power_state.interlock", "interlock active"},
    {"current_power_state.power_fault", "power fault"},
    {"current_power_state.power_control_fault", "power control fault"},
    {"misc_chassis_state.chassis_intrusion_active", "chassis intrusion"},
    {"misc_chassis_state.front_panel_lockout_active", "front panel lockout"},
    {"misc_chassis_state.drive_fault", "drive fault"},
    {"misc_chassis_state.cooling_fan_fault_detected", "cooling fault"},
}};

outcome absent(absence reason) {
  outcome o;
  o.got.reason = reason;
  return o;
}

absence reason_of(trouble how) {
  switch (how) {
    case trouble::lost:
    case trouble::timed_out:
    case trouble::busy: return absence::timeout;
    case trouble::forbidden: return absence::permission;
    case trouble::refused: return absence::no_data;
    case trouble::unknown: return absence::missing;
    case trouble::none:
    case trouble::malformed: break;
  }
  return absence::malformed;
}

// What a command that failed tells the caller.
outcome after(trouble how) {
  auto o = absent(reason_of(how));
  o.how = how;
  return o;
}

// What the completion code of Get Sensor Reading means. FreeIPMI does not look at it in ipmi_cmd(). Like
// ipmi_sensor_read(), this takes every code without a meaning of its own for a sensor that has no value now.
trouble trouble_of(std::optional<std::uint64_t> code) {
  if (!code) return trouble::malformed;
  switch (*code) {
    case IPMI_COMP_CODE_COMMAND_SUCCESS: return trouble::none;
    case IPMI_COMP_CODE_NODE_BUSY: return trouble::busy;
    case IPMI_COMP_CODE_COMMAND_TIMEOUT: return trouble::timed_out;
    case IPMI_COMP_CODE_INSUFFICIENT_PRIVILEGE_LEVEL: return trouble::forbidden;
    case IPMI_COMP_CODE_INVALID_COMMAND:
    case IPMI_COMP_CODE_COMMAND_INVALID_FOR_LUN: return trouble::unknown;
    default: return trouble::refused;
  }
}

// Decodes a temperature byte of DCMI (1.5, table 6-24): sign and magnitude.
double dcmi_celsius(std::uint8_t byte) {
  return (byte & 0x80u) != 0 ? -static_cast<double>(byte & 0x7fu) : byte;
}

// All bits set: a BMC's way to say that it has no number.
constexpr std::uint64_t no_watts_known = 0xffff;

// The BMC's statistics. Nothing if it keeps none: the span of time or the numbers are zero, or have all bits
// set. The agent judges whether they contradict each other. Source: DCMI 1.5, table 6-16 (16-bit watts,
// milliseconds).
std::optional<statistics> statistics_of(const answer& a) {
  const auto least = a.field("minimum_power_over_sampling_duration");
  const auto mean = a.field("average_power_over_sampling_duration");
  const auto most = a.field("maximum_power_over_sampling_duration");
  const auto window_ms = a.field("statistics_reporting_time_period").value_or(0);
  if (!least || !mean || !most || window_ms == 0) return std::nullopt;
  if (*most == 0 || std::max({*least, *mean, *most}) >= no_watts_known) return std::nullopt;
  return statistics{static_cast<double>(*least), static_cast<double>(*mean), static_cast<double>(*most),
                    static_cast<std::uint32_t>(window_ms)};
}

// Asks for one instance at a time, because FreeIPMI's answer has no room for eight pairs of reading and
// instance.
int ask_temperature(ipmi_ctx_t context, std::uint8_t entity, std::uint32_t instance, answer& into) {
  return ::ipmi_cmd_dcmi_get_temperature_reading(context, temperature, entity,
                                                 static_cast<std::uint8_t>(instance), 0, into.get());
}

}  // namespace

sensor_reader::sensor_reader(const bmc_link& link, const bmc& who)
    : link_(link), who_(who), context_(::ipmi_sensor_read_ctx_create(link.context())) {
  if (!context_) throw std::bad_alloc();
}

outcome sensor_reader::read(const known_sensor& s) {
  if (s.about.origin == sensor_origin::chassis) return read_chassis();
  if (s.about.origin == sensor_origin::sdr) return read_sdr(s);
  return s.about.kind == sensor_kind::power ? read_dcmi_power() : read_dcmi_temperature(s);
}

outcome sensor_reader::read_sdr(const known_sensor& s) {
  if (s.lun != 0) return read_other_lun(s);
  std::uint8_t raw = 0;
  double* value = nullptr;
  std::uint16_t bits = 0;
  const int how = ::ipmi_sensor_read(context_.get(), s.record.data(), static_cast<unsigned>(s.record.size()),
                                     s.offset, &raw, &value, &bits);
  const std::unique_ptr<double, void (*)(void*)> owner(value, &std::free);
  if (how >= 0) {
    outcome o;
    if (s.about.kind == sensor_kind::state) {
      o.got.state = bits;
      o.got.words = words_of(s, bits);
    } else if (value != nullptr) {
      o.got.value = in_unit(s, *value);
    } else {
      // A non-linear sensor with formulas of its maker: its number cannot be computed.
      return absent(absence::no_data);
    }
    return o;
  }
  switch (::ipmi_sensor_read_ctx_errnum(context_.get())) {
    case IPMI_SENSOR_READ_ERR_SENSOR_READING_UNAVAILABLE:
    case IPMI_SENSOR_READ_ERR_SENSOR_SCANNING_DISABLED: return absent(absence::no_data);
    case IPMI_SENSOR_READ_ERR_SENSOR_READING_CANNOT_BE_OBTAINED: return absent(absence::missing);
    case IPMI_SENSOR_READ_ERR_NODE_BUSY: return after(trouble::busy);
    case IPMI_SENSOR_READ_ERR_IPMI_ERROR: return after(link_.last_trouble());
    default: return absent(absence::malformed);
  }
}

// ipmi_sensor_read() asks LUN 0 alone. Before FreeIPMI 1.6.8 it even gives the value that the sensor of this
// number has there. So the helper itself sends Get Sensor Reading to the other LUN. This is the only place
// that names a command by its number, and the only command that it may name.
outcome sensor_reader::read_other_lun(const known_sensor& s) {
  answer question(tmpl_cmd_get_sensor_reading_rq), a(tmpl_cmd_get_sensor_reading_rs);
  if (::fill_cmd_get_sensor_reading(static_cast<std::uint8_t>(s.about.number), question.get()) < 0) {
    return absent(absence::malformed);
  }
  if (::ipmi_cmd(link_.context(), s.lun, IPMI_NET_FN_SENSOR_EVENT_RQ, question.get(), a.get()) < 0) {
    return after(link_.last_trouble());
  }
  if (const auto how = trouble_of(a.field("comp_code")); how != trouble::none) return after(how);
  const auto raw = a.field("sensor_reading"), unavailable = a.field("reading_state"),
             scanned = a.field("sensor_scanning");
  if (!raw || !unavailable || !scanned) return absent(absence::malformed);
  if (*unavailable == IPMI_SENSOR_READING_STATE_UNAVAILABLE ||
      *scanned == IPMI_SENSOR_SCANNING_ON_THIS_SENSOR_DISABLE) {
    return absent(absence::no_data);
  }
  outcome o;
  if (s.about.kind == sensor_kind::state) {
    const auto bits = static_cast<std::uint16_t>(a.field("sensor_event_bitmask1").value_or(0) |
                                                 a.field("sensor_event_bitmask2").value_or(0) << 8);
    o.got.state = bits;
    o.got.words = words_of(s, bits);
    return o;
  }
  double value = 0;
  const auto& f = s.factors;
  if (::ipmi_sensor_decode_value(f.r_exponent, f.b_exponent, f.m, f.b, f.linearization, f.format,
                                 static_cast<std::uint8_t>(*raw), &value) < 0) {
    return absent(absence::no_data);  // non-linear, with formulas of its maker
  }
  o.got.value = in_unit(s, value);
  return o;
}

std::vector<std::string> sensor_reader::words_of(const known_sensor& s, std::uint16_t bits) const {
  char** messages = nullptr;
  unsigned count = 0;
  constexpr unsigned how = IPMI_GET_EVENT_MESSAGES_FLAGS_SHORT |
                           IPMI_GET_EVENT_MESSAGES_FLAGS_SENSOR_READING |
                           IPMI_GET_EVENT_MESSAGES_FLAGS_IGNORE_UNRECOGNIZED_EVENTS;
  if (::ipmi_get_event_messages(s.event_type, s.type, static_cast<std::uint8_t>(s.about.number), bits,
                                who_.manufacturer_id, static_cast<std::uint16_t>(who_.product_id), &messages,
                                &count, nullptr, how) < 0) {
    return {};
  }
  std::vector<std::string> words;
  for (unsigned i = 0; i < count; ++i) {
    words.emplace_back(messages[i]);
    std::free(messages[i]);
  }
  std::free(static_cast<void*>(messages));
  return words;
}

outcome sensor_reader::read_dcmi_power() {
  answer a(tmpl_cmd_dcmi_get_power_reading_rs);
  if (::ipmi_cmd_dcmi_get_power_reading(link_.context(), IPMI_DCMI_POWER_READING_MODE_SYSTEM_POWER_STATISTICS,
                                        0, a.get()) != 0) {
    return after(link_.last_trouble());
  }
  const auto watts = a.field("current_power");
  const auto active = a.field("power_reading_state.power_measurement");
  if (!watts || !active) return absent(absence::malformed);
  if (*active == 0 || *watts >= no_watts_known) return absent(absence::no_data);
  outcome o;
  o.got.value = static_cast<double>(*watts);
  o.got.over = statistics_of(a);
  return o;
}

outcome sensor_reader::read_dcmi_temperature(const known_sensor& s) {
  answer a(tmpl_cmd_dcmi_get_temperature_reading_rs);
  if (ask_temperature(link_.context(), static_cast<std::uint8_t>(s.about.entity_id), s.about.instance, a) !=
      0) {
    return after(link_.last_trouble());
  }
  // FreeIPMI names the bytes temperature1, temperature2… In fact they are the reading and its instance.
  const auto byte = a.field("temperature1"), instance = a.field("temperature2");
  if (a.field("number_of_sets_of_temperature_data").value_or(0) == 0 || !byte ||
      instance != s.about.instance) {
    return absent(absence::missing);
  }
  outcome o;
  o.got.value = dcmi_celsius(static_cast<std::uint8_t>(*byte));
  return o;
}

outcome sensor_reader::read_chassis() {
  answer a(tmpl_cmd_get_chassis_status_rs);
  if (::ipmi_cmd_get_chassis_status(link_.context(), a.get()) != 0) return after(link_.last_trouble());
  outcome o;
  o.got.state = 0;
  for (std::size_t i = 0; i < chassis_bits.size(); ++i) {
    if (a.field(chassis_bits[i].field).value_or(0) == 0) continue;
    *o.got.state |= 1u << i;
    o.got.words.emplace_back(chassis_bits[i].word);
  }
  if ((*o.got.state & 1u) == 0) o.got.words.emplace_back("off");
  return o;
}

namespace {

/// A sensor that every system has and no record describes.
known_sensor of_system(const char* key, const char* name, sensor_kind kind, const char* unit,
                       sensor_origin origin) {
  known_sensor s;
  s.about.key = key;
  s.about.name = name;
  s.about.entity = "system chassis";
  s.about.entity_id = IPMI_ENTITY_ID_SYSTEM_CHASSIS;
  s.about.kind = kind;
  s.about.unit = unit;
  s.about.origin = origin;
  return s;
}

}  // namespace

result<std::vector<known_sensor>> sensor_reader::extras(bool patient, const std::function<void()>& between) {
  std::vector<known_sensor> all;
  const auto chassis = read_chassis();
  if (chassis.how != trouble::none) {
    if (const auto known = link_.answered(patient); !known) return known.error();
  }
  between();
  if (chassis.got.state) {
    all.push_back(
        of_system("chassis.power", "Chassis Power", sensor_kind::state, "state", sensor_origin::chassis));
  }
  if (!who_.dcmi) return all;

  const auto power = read_dcmi_power();
  if (power.how != trouble::none) {
    if (const auto known = link_.answered(patient); !known) return known.error();
  }
  between();
  // DCMI power that is inactive, forbidden or refused now may become available, so the sensor is kept. A BMC
  // that does not know the command never gives it, nor does one that says that it cannot measure power.
  const bool never =
      power.how == trouble::unknown || (power.how == trouble::refused && !link_.measures_power());
  if (!never) {
    all.push_back(of_system("dcmi.power", "DCMI Power", sensor_kind::power, "watts", sensor_origin::dcmi));
  }
  for (const auto& e : dcmi_entities) {
    answer a(tmpl_cmd_dcmi_get_temperature_reading_rs);
    const bool has = ask_temperature(link_.context(), e.id, 1, a) == 0;
    if (!has) {
      if (const auto known = link_.answered(patient); !known) return known.error();
    }
    between();
    if (!has) continue;
    const auto instances =
        std::min(a.field("total_number_of_available_instances").value_or(0), most_instances);
    for (std::uint32_t instance = 1; instance <= instances; ++instance) {
      known_sensor s;
      s.about.key = fmt::format("dcmi.{}.{}", e.key, instance);
      s.about.name = fmt::format("{} {}", e.name, instance);
      s.about.entity = entity_word(e.id);
      s.about.entity_id = e.id;
      s.about.instance = instance;
      s.about.kind = sensor_kind::temperature;
      s.about.unit = "celsius";
      s.about.origin = sensor_origin::dcmi;
      all.push_back(std::move(s));
    }
  }
  return all;
}

}  // namespace binnacle::ipmi
