#include "tests/support/bmc/bmc_board.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace binnacle::support {
namespace {

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream out(path, std::ios::trunc);
  if (!(out << text).flush()) throw std::runtime_error("cannot write " + path);
}

// Fifteen digits, one for each state; the state of the highest number comes first.
std::string bits(const std::vector<unsigned>& set) {
  std::string text(15, '0');
  for (const auto n : set) text.at(14 - n) = '1';
  return text;
}

// The number in the file of a sensor with states, from which ipmi_sim reads it: one bit for each state.
unsigned as_number(const std::vector<unsigned>& set) {
  unsigned number = 0;
  for (const auto n : set) number |= 1u << n;
  return number;
}

// The file for ipmi_sim(1), option -c: the channels and the users.
std::string lan_conf(const board_spec& board, const bmc_ports& ports, const std::string& folder) {
  std::string text = "name \"board\"\nset_working_mc 0x20\n";
  text += fmt::format("  startlan 1\n    addr 127.0.0.1 {}\n    priv_limit admin\n", ports.lan);
  for (const auto* level : {"callback", "user", "operator", "admin"}) {
    text += fmt::format("    allowed_auths_{} none md2 md5 straight\n", level);
  }
  text += fmt::format("    guid {}\n  endlan\n", board.guid);
  text += "  user 1 true \"\" \"\" user 10 none md2 md5 straight\n";
  text += fmt::format("  user 2 true \"{}\" \"{}\" admin 10 none md2 md5 straight\n", bmc_admin,
                      bmc_admin_password);
  text += fmt::format("  user 3 true \"{}\" \"{}\" {} 10 none md2 md5 straight\n", bmc_user,
                      bmc_user_password, board.user_level);
  text += fmt::format("serial 15 127.0.0.1 {} codec VM\nconsole 127.0.0.1 {}\n", ports.system, ports.console);
  if (board.dcmi_watts) {
    text += fmt::format("loadlib \"{}\" \"{}/values\"\n", BINNACLE_BMC_DCMI_MODULE, folder);
  }
  return text;
}

// Commands of ipmi_sim_cmd(5) that make the board's sensors.
std::string emulator_commands(const board_spec& board, const std::string& folder) {
  // Device 0x23, firmware 9.08. The enterprise number and the product belong to no maker.
  std::string text =
      "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\nsel_enable 0x20 "
      "1000 "
      "0x0a\n";
  text += fmt::format("mc_set_guid 0x20 {}\n", board.guid);
  for (const auto& s : board.sensors) {
    if (!s.in_board) continue;
    text +=
        fmt::format("sensor_add 0x20 {} {} {} 0x01 poll 100 file \"{}/{}\" base=10 div={}\n", s.lun, s.number,
                    s.type == "Temperature" ? 1
                    : s.type == "Voltage"   ? 2
                    : s.type == "Fan"       ? 4
                                            : 11,
                    folder, value_file(s.name), s.m);
    if (!s.upper) continue;
    const auto& u = *s.upper;
    text += fmt::format("sensor_set_threshold 0x20 {} {} settable 111000 {} {} {} 00 00 00\n", s.lun,
                        s.number, u[2] / s.m, u[1] / s.m, u[0] / s.m);
    // Bits 6 to 11: the upper thresholds, when the value rises above them and when it falls below.
    text += fmt::format(
        "sensor_set_event_support 0x20 {} {} enable scanning per-state 000111111000000 000111111000000 "
        "000111111000000 000111111000000\n",
        s.lun, s.number);
  }
  for (const auto& s : board.states) {
    // These are read from a file, too: OpenIPMI 2.0.37 answers "no response" (0xce) for a sensor that it has
    // never polled.
    text += fmt::format("sensor_add 0x20 {} {} 0x08 0x6f poll 100 file \"{}/{}\" base=10\n", s.lun, s.number,
                        folder, value_file(s.name));
    const auto known = bits(s.states);
    text += fmt::format("sensor_set_event_support 0x20 {} {} enable scanning per-state {} {} {} {}\n", s.lun,
                        s.number, known, known, known, known);
  }
  return text + "mc_enable 0x20\n";
}

// The sensor data records in the language of sdrcomp.
std::string records(const board_spec& board) {
  std::string text =
      "sdr type 18\n  device_slave_address 0x20\n  device_channel_number 0\n  chassis true\n  fru_inventory "
      "true\n"
      "  sel true\n  sdr true\n  sensor true\n  entity_id system_board\n  entity_instance 1\n  id_string "
      "\"node "
      "BMC\"\nendsdr\n\n";
  const auto begin = [&text](int type, const auto& s) {
    text += fmt::format(
        "sdr type {}\n  sensor_owner_id 0x20\n  sensor_owner_lun {}\n  channel_number 0\n  sensor_number {}\n"
        "  entity_id {}\n  entity_instance {}\n  sensor_type {}\n",
        type, s.lun, s.number, s.entity, s.instance, s.type);
  };
  for (const auto& s : board.sensors) {
    begin(1, s);
    text += "  init_scanning true\n  init_sensor_type true\n  default_sensor_scan_on true\n";
    text +=
        "  event_reading_type_code 1\n  analog_data_format unsigned\n  rate_unit none\n  modifier_unit "
        "none\n";
    text += fmt::format("  percentage false\n  base_unit {}\n  modifier_unit_code unspecified\n", s.unit);
    text += fmt::format(
        "  linearization linear\n  m {}\n  tolerance 0\n  b 0\n  accuracy 1\n  accuracy_exp 0\n", s.m);
    text += fmt::format("  sensor_direction input\n  r_exp {}\n  b_exp 0\n", s.r_exp);
    text += "  sensor_maximum 255\n  sensor_minimum 0\n";
    if (s.upper) {
      text += "  sensor_threshold_access settable\n";
      const std::array<const char*, 3> names{"unc", "uc", "unr"};
      for (std::size_t i = 0; i < names.size(); ++i) {
        text += fmt::format("  {0}_thrsh_readable true\n  {0}_thresh {1}\n", names[i], (*s.upper)[i] / s.m);
      }
    }
    text += fmt::format("  id_string \"{}\"\nendsdr\n\n", s.name);
  }
  for (const auto& s : board.states) {
    begin(2, s);
    text += "  event_reading_type_code 0x6f\n";
    for (const auto bit : s.states)
      text += fmt::format("  event{0}_state_ret true\n  assert_event{0} true\n", bit);
    text += fmt::format("  id_string \"{}\"\nendsdr\n\n", s.name);
  }
  return text;
}

}  // namespace

std::string value_file(const std::string& sensor_name) {
  std::string file = "values/";
  for (const char c : sensor_name) {
    if (c >= 'A' && c <= 'Z') {
      file += static_cast<char>(c + 32);
    } else {
      file += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
    }
  }
  return file;
}

void write_board(const std::string& folder, const board_spec& board, const bmc_ports& ports) {
  write(folder + "/lan.conf", lan_conf(board, ports, folder));
  write(folder + "/board.emu", emulator_commands(board, folder));
  write(folder + "/board.sdrs", records(board));
  for (const auto& s : board.sensors)
    write(folder + "/" + value_file(s.name), std::to_string(s.value) + "\n");
  for (const auto& s : board.states)
    write(folder + "/" + value_file(s.name), std::to_string(as_number(s.asserted)) + "\n");
  if (board.dcmi_watts) write(folder + "/values/dcmi_watts", std::to_string(*board.dcmi_watts) + "\n");
  // ipmi_sim looks here for the compiled records of a BMC of this name. It reads them only with persist_sdr.
  const auto compiled = folder + "/state/ipmi_sim/board/sdr.20.main";
  std::filesystem::create_directories(std::filesystem::path(compiled).parent_path());
  std::filesystem::remove(compiled);
  const auto command = fmt::format("sdrcomp -o '{}' '{}/board.sdrs'", compiled, folder);
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("sdrcomp does not take " + folder +
                             "/board.sdrs: is the package openipmi there?");
  }
}

namespace boards {

board_spec two_sockets() {
  board_spec b;
  const auto other = "Other_Units_Based_Sensor";
  const auto cpu = std::array{85, 95, 100};
  b.sensors = {
      {1, "Inlet Temp", "Temperature", "0x37", 1, "degrees_C", 23, 1, 0, std::array{40, 45, 50}},
      {2, "CPU0 Temp", "Temperature", "processor", 1, "degrees_C", 61, 1, 0, cpu},
      {3, "CPU1 Temp", "Temperature", "processor", 2, "degrees_C", 58, 1, 0, cpu},
      {4, "DIMM Temp", "Temperature", "memory_device", 1, "degrees_C", 44},
      {5, "Fan1 Speed", "Fan", "fan_cooling_device", 1, "RPM", 9000, 60},
      {6, "Fan2 Speed", "Fan", "fan_cooling_device", 2, "RPM", 8940, 60},
      {7, "PSU1 Input", other, "power_supply", 1, "Watts", 212, 4},
      {8, "PSU2 Input", other, "power_supply", 2, "Watts", 208, 4},
      {9, "Sys Power", other, "system_board", 1, "Watts", 405, 5},
      {10, "12V Rail", "Voltage", "system_board", 1, "Volts", 12'096, 63, -3},
      {12, "Exhaust Temp", "Temperature", "system_board", 2, "degrees_C", 33},
  };
  // States of a power supply (IPMI 2.0, table 42-3): 0 present, 1 failed, 3 input lost.
  b.states = {{11, "PSU1 Status", "Power_Supply", "power_supply", 1, {0, 1, 3}, {0}}};
  b.dcmi_watts = 417;
  return b;
}

}  // namespace boards
}  // namespace binnacle::support
