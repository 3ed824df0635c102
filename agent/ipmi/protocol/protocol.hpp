#pragma once

#include "common/absence.hpp"
#include "common/error.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The messages between the agent and its helper `binnacle-ipmi`. They go over the helper's stdin and stdout
/// or a Unix socket: one JSON object a line, UTF-8, at most 64 KiB. Pure: no sockets, files or clocks.
/// Apache-2.0 like the rest of the tree: this folder contains nothing of FreeIPMI.
///
///   helper: hello                                 once, first; status{not ok} instead, and the end, when
///                                                 another agent has this helper
///           status{not ok} | bmc, sensor…, inventory_end     the inventory; again whenever it changes
///           plan                                  after each select, interest or change of a period
///           reading…, status, stats
///   agent:  select                                once, after hello; again when the configuration changes.
///                                                 No sensor is read before the first one
///           interest                              the whole set each time
///           ping                                  answered by pong with the same number
///
/// A reader ignores fields it does not know and gives messages it does not know as `unknown`; words it does
/// not know become `other` or `none`. That is what lets versions differ by one.
namespace binnacle::ipmi {

inline constexpr int protocol_version = 1;
inline constexpr std::size_t max_line = std::size_t{64} << 10;  ///< bytes, without the line feed
inline constexpr std::size_t max_sensors = 1'000;               ///< of one inventory
inline constexpr std::size_t max_key = 32;                      ///< bytes
inline constexpr std::size_t max_text = 512;                    ///< bytes of a name or message
inline constexpr std::size_t max_pattern = 64;                  ///< bytes
inline constexpr std::size_t max_patterns = 50;                 ///< of one list in `wanted_sensors`
inline constexpr std::size_t max_words = 32;                    ///< of one state, max_pattern bytes each
inline constexpr double max_number = 1e300;                     ///< the largest; with a minus the smallest

inline bool is_number(double d) noexcept { return std::abs(d) <= max_number; }  // not NaN

enum class sensor_kind : std::uint8_t { temperature, fan, voltage, current, power, state, other };
/// What a sensor's value means to a scheduler.
enum class sensor_role : std::uint8_t {
  none,
  inlet,         ///< temperature of the air that comes in
  cpu,           ///< temperature of a processor
  system_power,  ///< what the whole system draws
  psu_input,     ///< what one power supply draws from the wall; a system's sum is over these
  psu_output,    ///< what one power supply gives; never added to the others
};
/// Which commands give the value.
enum class sensor_origin : std::uint8_t { sdr, dcmi, chassis };

std::string_view to_string(sensor_kind k) noexcept;
std::string_view to_string(sensor_role r) noexcept;
std::string_view to_string(sensor_origin o) noexcept;
sensor_kind sensor_kind_of(std::string_view word) noexcept;      ///< other, if unknown
sensor_role sensor_role_of(std::string_view word) noexcept;      ///< none, if unknown
sensor_origin sensor_origin_of(std::string_view word) noexcept;  ///< sdr, if unknown

// Messages of the helper.

struct hello {
  int protocol = protocol_version;
  std::string version;  ///< of the helper
  /// How long a healthy helper may take to answer a ping, since its calls to the BMC block. A helper that
  /// takes longer hangs, and must be killed.
  std::uint32_t quiet_ms = 0;
};

/// Which BMC this is. This message begins an inventory: the sensors that follow, up to inventory_end, replace
/// all earlier ones.
struct bmc {
  std::string address;  ///< "/dev/ipmi0", or the host as configured
  std::string guid;     ///< lower-case hexadecimal with dashes; empty: the BMC has none
  std::string manufacturer;
  std::uint32_t manufacturer_id = 0;  ///< IANA enterprise number
  std::uint32_t product_id = 0;
  std::string firmware;      ///< "9.08"
  std::string ipmi_version;  ///< "2.0"
  std::uint32_t sdr_records = 0;
  bool dcmi = false;  ///< it answers DCMI commands
};

struct thresholds {
  std::optional<double> lower_non_recoverable, lower_critical, lower_non_critical;
  std::optional<double> upper_non_critical, upper_critical, upper_non_recoverable;
  friend bool operator==(const thresholds&, const thresholds&) = default;
};

struct sensor {
  /// The same sensor has the same key after restarts and SDR changes: owner, LUN and number in hexadecimal
  /// ("20.0.1a"), "dcmi.power", "dcmi.inlet.1", "chassis.power"…
  std::string key;
  std::string name;    ///< as in the SDR, blanks at the end removed: "Inlet Temp"
  std::string entity;  ///< word of the IPMI specification, table 43-13: "system board", "processor"
  std::uint32_t entity_id = 0;
  std::uint32_t instance = 0;  ///< of the entity
  std::uint32_t number = 0;    ///< sensor number within its owner
  std::uint32_t record = 0;    ///< SDR record id (ipmi_exporter's `id`); may change when the SDR does
  sensor_kind kind = sensor_kind::other;
  std::string unit;  ///< "celsius" (never Fahrenheit), "rpm", "percent", "volts", "amperes", "watts", "state"
  sensor_role role = sensor_role::none;
  sensor_origin origin = sensor_origin::sdr;
  thresholds limits;  ///< in `unit`; only those that the BMC lets read
};

struct inventory_end {
  std::uint32_t count = 0;  ///< of sensors since `bmc`
};

/// Which sensors are read, and how often. Sensors that are not named are not read. Each plan replaces the one
/// before.
struct plan {
  std::map<std::string, std::uint32_t> period_ms;  ///< by key
};

/// What the BMC's own meter measured over a span of time, in the sensor's unit.
struct statistics {
  double minimum = 0, average = 0, maximum = 0;
  std::uint32_t window_ms = 0;  ///< never 0
  friend bool operator==(const statistics&, const statistics&) = default;
};

/// One attempt to read one sensor.
struct reading {
  std::string key;
  absence reason = absence::none;      ///< why there is neither value nor state
  std::optional<double> value;         ///< in the sensor's unit
  std::optional<std::uint32_t> state;  ///< bit n: the sensor's state n is asserted (state sensors)
  std::vector<std::string> words;      ///< what the asserted bits mean
  std::optional<statistics> over;      ///< beside the value, if the BMC keeps statistics
  std::int64_t read_at_ns = 0;  ///< CLOCK_BOOTTIME of this machine when the answer, or its absence, came
  std::uint32_t took_us = 0;    ///< from the request to read_at
};

/// The state of the link to the BMC. Sent when it changes.
struct status {
  bool ok = false;
  std::string message;     ///< one sentence with the remedy; empty when ok
  bool permanent = false;  ///< trying again cannot help, so nothing is tried until the configuration changes
};

/// Counts since the start of the helper. Sent about every ten seconds.
struct stats {
  std::uint64_t requests = 0;      ///< sensor readings and repository checks
  std::uint64_t failures = 0;      ///< sensor readings that gave neither value nor state
  std::uint64_t timeouts = 0;      ///< of these: no answer in time
  std::uint64_t sessions = 0;      ///< opened with the BMC; more than one means that it was lost
  std::uint64_t sdr_rebuilds = 0;  ///< how often the SDR cache had to be read again
  double busy_ratio = 0;           ///< share of the last minute that the BMC spent on our requests
};

struct pong {
  std::uint64_t number = 0;
};

// Messages of the agent.

/// Gives a role to sensors whose odd names do not show it: every sensor that `pattern` fits has this role.
struct role_rule {
  std::string pattern;
  sensor_role role = sensor_role::none;
};
/// Reads "PATTERN=ROLE", for example "P?=Diode=cpu": the last = ends the pattern. Errors: invalid_input, with
/// the remedy.
result<role_rule> parse_role_rule(std::string_view text);
/// Whether the pattern fits the sensor's name or its key, by the rules of matches_glob().
bool fits(std::string_view pattern, const sensor& s) noexcept;

/// What to read. Patterns are matched by fits(). encode() cuts off everything beyond max_patterns and
/// max_pattern, so refuse such lists when the configuration is read.
struct wanted_sensors {
  bool defaults = true;  ///< the default list: temperatures, fans, power; no voltages, currents, states
  std::vector<std::string> include;
  std::vector<std::string> exclude;  ///< wins over `defaults` and `include`, but not over `interest`
  std::vector<role_rule> roles;      ///< the first match wins; they go before the built-in rules
  std::uint32_t period_ms = 1'000;   ///< the shortest period without interest; longer where the BMC is slow
  double budget_ratio = 0.05;        ///< the most of the BMC's time that reading may take
};

/// Sensors that a policy waits for, with the wanted period. They are read even if wanted_sensors does not
/// select them, as often as the budget allows. Replaces the earlier set.
struct interest {
  std::map<std::string, std::uint32_t> period_ms;  ///< by key
};

struct ping {
  std::uint64_t number = 0;
};

/// A message that only a later version knows.
struct unknown {
  std::string type;
};

using from_helper =
    std::variant<hello, bmc, sensor, inventory_end, plan, reading, status, stats, pong, unknown>;
using from_agent = std::variant<wanted_sensors, interest, ping, unknown>;

/// The message as one line, with its line feed. Texts are cut to their bounds and made valid UTF-8. A value
/// that is no number within max_number becomes absent (out_of_range).
std::string encode(const from_helper& message);
std::string encode(const from_agent& message);

/// Decodes one line without its line feed. Errors: protocol, one sentence that says what is wrong with which
/// message.
result<from_helper> decode_from_helper(std::string_view line);
result<from_agent> decode_from_agent(std::string_view line);

}  // namespace binnacle::ipmi
