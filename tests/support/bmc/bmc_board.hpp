#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::support {

/// A sensor of a simulated board. The words are those of OpenIPMI's SDR compiler (sdrcomp).
struct board_sensor {
  std::uint8_t number = 0;
  std::string name;    ///< with a lower-case letter: sdrcomp packs names of capitals into 6 bits, and
                       ///< libfreeipmi prints rubbish for those
  std::string type;    ///< "Temperature", "Fan", "Voltage", "Other_Units_Based_Sensor"
  std::string entity;  ///< "processor", "power_supply", "0x37" (air inlet has no word)
  unsigned instance = 1;
  std::string unit;  ///< "degrees_C", "RPM", "Watts", "Volts"
  int value = 0;     ///< at start, in units of 10^r_exp
  int m = 1;         ///< value = m × raw byte × 10^r_exp (IPMI 2.0, 36.3)
  int r_exp = 0;
  std::optional<std::array<int, 3>> upper;  ///< non-critical, critical, non-recoverable; as `value`
  bool in_board = true;                     ///< false: only the SDR lists it: the part was taken out
  unsigned lun = 0;                         ///< of the BMC; each has numbers of its own
};

/// A sensor with states, of the sensor-specific event type (0x6f).
struct board_state {
  std::uint8_t number = 0;
  std::string name;
  std::string type;  ///< "Power_Supply"
  std::string entity;
  unsigned instance = 1;
  std::vector<unsigned> states;    ///< the states that the sensor can report
  std::vector<unsigned> asserted;  ///< the states at start
  unsigned lun = 0;
};

struct board_spec {
  std::string guid = "a123456789abcdefa123456789abcdef";
  std::vector<board_sensor> sensors;
  std::vector<board_state> states;
  std::optional<unsigned> dcmi_watts;  ///< nothing: the BMC does not know DCMI
  std::string user_level = "user";     ///< of bmc_user: "user", "operator", "admin"
};

namespace boards {
/// An invented server of two sockets: inlet by its entity id, two CPUs, memory, two fans, two power supplies,
/// system power sensor, a rail, an exhaust sensor, the state of a supply, and DCMI. Its parts, entities and
/// conversions are those in the sensor lists of such boards (ipmi-sensors -v; IPMI 2.0 tables 42-3 and
/// 43-13).
board_spec two_sockets();
}  // namespace boards

/// Where a simulator of OpenIPMI listens; all ports are on 127.0.0.1.
struct bmc_ports {
  std::uint16_t lan = 0;      ///< UDP, RMCP and RMCP+
  std::uint16_t console = 0;  ///< TCP: commands of ipmi_sim_cmd(5)
  std::uint16_t system = 0;   ///< TCP: the system interface, for ipmi_device_shim
};

/// The users of every simulated BMC. ipmi_sim lets only administrators use DCMI.
inline constexpr const char* bmc_admin = "monitor";
inline constexpr const char* bmc_admin_password = "secret1";
inline constexpr const char* bmc_user = "viewer";  ///< of board_spec::user_level
inline constexpr const char* bmc_user_password = "secret2";

/// Writes everything that ipmi_sim needs below `folder`: lan.conf, board.emu, board.sdrs, and in values/ a
/// file for each sensor (value_file()). The simulator reads these files ten times a second.
void write_board(const std::string& folder, const board_spec& board, const bmc_ports& ports);

/// The file of a sensor in values/: its name in lower case, with '_' for characters other than letters and
/// digits ("values/inlet_temp").
std::string value_file(const std::string& sensor_name);

}  // namespace binnacle::support
