#pragma once

#include "common/error.hpp"
#include "common/metrics/catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::agent {

/// One number of a chip, as found; nothing is kept open.
struct sensor {
  std::string family;
  metrics::label_set labels;
  std::string input;  ///< path of the file with the number
  double unit = 1;    ///< what one of the file's steps is worth in the family's unit
  std::string
      critical;       ///< path of a limit in the same unit, "" if there is none: then a margin is announced
  std::string fault;  ///< path of a file that says 1 when the number means nothing; "" if there is none
};

/// Sensors that one driver serves and that are read together.
struct sensor_chip {
  enum class pace : unsigned char {
    quick,  ///< registers of the CPU itself: read in the loop, as often as the source
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

/// The chips below SYS/class/hwmon. `every_core`: also the temperature of each core where a package has its
/// own. Thermal zones' doubles of themselves are left out. Errors: not_found, permission. Blocks: reads
/// folders and names. Source: Linux Documentation/hwmon/sysfs-interface.rst, coretemp.rst, k10temp.rst,
/// drivetemp.rst.
result<sensor_chips> find_hwmon_chips(const std::string& sys_root, bool every_core);

/// Zones below SYS/class/powercap that say their power themselves, each control type as a chip: arm-scmi, by
/// which the firmware of Arm servers tells it (a mean over its own interval), and dtpm. A zone inside of
/// another one has a family of its own, so that those outside may be added up. None where there is no such
/// folder. Blocks: reads folders and names. Source: Linux Documentation/power/powercap/powercap.rst,
/// drivers/powercap/arm_scmi_powercap.c.
sensor_chips find_power_zones(const std::string& sys_root);

/// The thermal zones below SYS/class/thermal, each as a chip. Errors and blocking: as above.
/// Source: Linux Documentation/driver-api/thermal/sysfs-api.rst.
result<sensor_chips> find_thermal_zones(const std::string& sys_root);

}  // namespace binnacle::agent
