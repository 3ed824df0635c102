#pragma once

#include "common/error.hpp"
#include "common/metrics/families.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// One number of a chip. Nothing stays open.
struct sensor {
  std::string family;
  metrics::label_set labels;
  std::string input;  ///< path of the file with the number
  std::string mean;   ///< path of the same quantity's mean, taken while `input` gives no number; "" if none
  double unit = 1;    ///< multiplies the file's number to get the family's unit
  std::string
      critical;       ///< path of a limit in the same unit, "" if there is none: then a margin is announced
  std::string fault;  ///< path of a file that says 1 when the number is invalid; "" if there is none
};

/// Sensors of one driver that are read together.
struct sensor_chip {
  enum class pace : unsigned char {
    quick,  ///< registers of the CPU itself: read in the loop, at the source's own period
    slow,   ///< behind a bus or firmware
    drive,  ///< each read is a command to a drive, and some count it as activity
  };
  std::string folder;
  std::string name;  ///< the same after a reboot: "coretemp.0", "nvme0", "jc42-0-0018"
  pace how = pace::slow;
  std::vector<sensor> sensors;
};

struct sensor_chips {
  static constexpr std::size_t most = 256;  ///< chips, and sensors of one chip
  std::vector<sensor_chip> all;
  std::size_t left_out = 0;  ///< chips and sensors beyond that
};

/// Finds the chips below SYS/class/hwmon. `every_core`: also the temperature of each core where a package has
/// a temperature of its own. Chips that only repeat a thermal zone are left out. Errors: not_found,
/// permission. Blocks: reads folders and names. Source: Linux Documentation/hwmon/sysfs-interface.rst,
/// coretemp.rst, k10temp.rst, drivetemp.rst.
result<sensor_chips> find_hwmon_chips(const std::string& sys_root, bool every_core);

/// The families of a power zone that is added up, and of one that is not.
inline constexpr std::string_view power_of_zone = "os_powercap_power_watts";
inline constexpr std::string_view power_of_part = "os_powercap_part_power_watts";

/// Finds zones below SYS/class/powercap that give their power directly, with each control type as a chip:
/// arm-scmi, with which the firmware of Arm servers reports power (a mean over its own interval), and dtpm. A
/// zone inside another one has another family, so that the zones outside can be added up, and names the zone
/// directly around it. `without_meter` are
/// the inputs that a reading showed to have no meter: the parts of such a zone stand for it, if each of them
/// has a meter or parts that have, and the zone then has the other family. Empty if there is no such folder.
/// Blocks: reads folders and names. Source: Linux Documentation/power/powercap/powercap.rst,
/// drivers/powercap/arm_scmi_powercap.c.
sensor_chips find_power_zones(const std::string& sys_root, const std::set<std::string>& without_meter = {});

/// Finds the thermal zones below SYS/class/thermal, each as a chip. Errors and blocking: as for
/// find_hwmon_chips.
/// Source: Linux Documentation/driver-api/thermal/sysfs-api.rst.
result<sensor_chips> find_thermal_zones(const std::string& sys_root);

}  // namespace binnacle::agent
