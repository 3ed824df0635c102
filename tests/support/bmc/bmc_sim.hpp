#pragma once

#include "tests/support/bmc/bmc_board.hpp"
#include "tests/support/temp_folder.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace binnacle::support {

/// A simulated BMC: OpenIPMI's ipmi_sim on loopback with one of our boards. Over the LAN it is at address();
/// in-band it is reached with shim_environment(). Blocks. The simulator ends with this object. Throws if it
/// is missing or does not start.
class bmc_sim {
 public:
  explicit bmc_sim(board_spec board = boards::two_sockets());
  /// Uses `folder`, which is kept afterwards.
  bmc_sim(board_spec board, std::string folder);
  ~bmc_sim();
  bmc_sim(const bmc_sim&) = delete;
  bmc_sim& operator=(const bmc_sim&) = delete;

  /// "127.0.0.1:23001", for --host. The port is needed, because libfreeipmi takes a bare 127.0.0.1 for the
  /// in-band driver.
  std::string address() const;
  const bmc_ports& ports() const noexcept { return ports_; }
  const std::string& folder() const noexcept { return folder_; }
  /// Writes a file below folder().
  void write(const std::string& name, const std::string& text) const;

  /// Sets a sensor in units of 10^r_exp (board_sensor::value); the simulator sees it within 100 ms.
  void set(const std::string& sensor, int value);
  void set_dcmi_watts(int watts);
  /// Sends commands of ipmi_sim_cmd(5), one per line, and returns what the simulator answered within `wait`.
  std::string console(const std::string& commands,
                      std::chrono::milliseconds wait = std::chrono::milliseconds(100));
  /// Adds the description of a temperature sensor while the simulator runs; the board has no such sensor.
  void add_description(std::uint8_t number, const std::string& name);
  /// Stops the readings of this sensor (N/A), or starts them again.
  void scanning(int sensor_number, bool on, int lun = 0);

  void freeze();  ///< SIGSTOP: it neither answers nor refuses
  void thaw();
  void kill();
  /// Starts the simulator again on the same ports, with the present files or with another board.
  void start();
  void replace(board_spec board);

  /// Notes every command that arrives from now on. commands() returns them in order, as "netfn cmd".
  void note_commands();
  std::vector<std::string> commands();

  /// Environment variables (NAME=value) that make this BMC the /dev/ipmi0 of a child process. `more`: further
  /// lines for the shim, see ipmi_device_shim.cpp.
  std::vector<std::string> shim_environment(const std::string& more = "") const;
  void set_shim(const std::string& more) const;

 private:
  void find_ports_and_start();
  void start_once();
  bool answers() const;

  std::optional<temp_folder> own_;
  std::string folder_;
  board_spec board_;
  bmc_ports ports_;
  pid_t pid_ = -1;
  // A console that prints every message. It must be read, or else the simulator stops.
  int noting_ = -1;
  std::thread reader_;
  std::mutex guard_;
  std::string noted_;  // protected by guard_
};

}  // namespace binnacle::support
