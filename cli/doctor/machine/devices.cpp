#include "cli/doctor/checks.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace binnacle::cli::doctor {
namespace {

/// Tries whether this user can open the file; returns the errno if not. Opening has no effect on any of these
/// files.
int opening(const std::string& file, int flags) {
  const int fd = ::open(file.c_str(), flags | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno;
  ::close(fd);
  return 0;
}

finding of_ipmi(const place& p) {
  const std::string device = p.path("/dev/ipmi0");
  if (!exists(device)) {
    return ok("there is no /dev/ipmi0: no BMC, or no driver for it",
              "if the machine has one: modprobe ipmi_si ipmi_devintf; in a container, mount the device");
  }
  const int why = opening(device, O_RDWR);
  if (why == 0) return ok("/dev/ipmi0 is there and can be opened");
  return warning(fmt::format("/dev/ipmi0 cannot be opened by this user: {}", describe(why)),
                 "only binnacle-ipmi has to: give its user, or the container's cgroup, the device");
}

finding of_power(const place& p) {
  const std::string sys = p.sys();
  std::string counter = sys + "/class/powercap/intel-rapl:0/energy_uj";
  if (!exists(counter)) counter = sys + "/class/powercap/intel-rapl-mmio:0/energy_uj";
  const bool pmu = exists(sys + "/bus/event_source/devices/power/type");
  const std::string_view second = pmu ? "; the perf PMU power has them, too" : "";
  if (exists(counter)) {
    const int why = opening(counter, O_RDONLY);
    if (why == 0) return ok(fmt::format("RAPL counters are below {}/class/powercap{}", sys, second));
    return warning(
        fmt::format("RAPL counters are there, but closed to this user: {}{}", describe(why), second),
        "energy_uj is root's since Linux 5.10: run the agent with user id 0 and no capability, or with "
        "CAP_PERFMON where the PMU power is there");
  }
  if (pmu) return ok("there is no powercap; the perf PMU power has the RAPL counters, with CAP_PERFMON");
  return ok("there is no RAPL here: no powercap, no perf PMU power",
            "on bare metal: modprobe intel_rapl_msr; most virtual machines have none");
}

finding of_resctrl(const place& p) {
  if (exists(p.sys() + "/fs/resctrl/info")) return ok("resctrl is mounted");
  std::ifstream known(p.path("/proc/filesystems"));
  for (std::string line; std::getline(known, line);) {
    if (line.ends_with("resctrl"))
      return ok("resctrl is there but not mounted",
                "for the source rdt: mount -t resctrl resctrl /sys/fs/resctrl");
  }
  return ok("the kernel has no resctrl here");
}

}  // namespace

findings check_devices(const place& p) { return {of_power(p), of_ipmi(p), of_resctrl(p)}; }

}  // namespace binnacle::cli::doctor
