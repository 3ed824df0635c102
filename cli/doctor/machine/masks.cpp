#include "cli/doctor/checks.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace binnacle::cli::doctor {
namespace {

// Paths that container runtimes hide behind an empty mount: moby since 2023-10 (powercap) and 2024
// (thermal_throttle); containerd and CRI-O do the same. Source: moby, oci/defaults.go.
constexpr std::string_view powercap = "/sys/devices/virtual/powercap";
constexpr std::string_view throttle = "/thermal_throttle";

struct masked {
  bool power = false, throttling = false;
};

/// Looks for mounts over these paths. The mount point is the fifth field of a line. Source: proc(5),
/// /proc/pid/mountinfo.
masked masks_of(const std::string& mountinfo) {
  masked out;
  std::ifstream in(mountinfo);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string skipped, point;
    for (int i = 0; i < 4; ++i) fields >> skipped;
    fields >> point;
    if (point == powercap) out.power = true;
    if (point.starts_with("/sys/devices/system/cpu/") && point.ends_with(throttle)) out.throttling = true;
  }
  return out;
}

constexpr std::string_view mount_it =
    "mount the host's /sys read-only at /host/sys and give the agent sys-root: /host/sys, as the chart does";

}  // namespace

findings check_masks(const place& p) {
  if (!exists(p.path("/proc/self/mountinfo")))
    return {unchecked("what is mounted over /sys cannot be read from /proc/self/mountinfo")};
  const masked m = masks_of(p.path("/proc/self/mountinfo"));
  const std::string sys = p.sys();
  findings out;
  if (!exists(sys + "/devices") && !exists(sys + "/class")) {
    out.push_back(failure(fmt::format("nothing of the machine's /sys is at {}", sys), std::string(mount_it)));
    return out;
  }
  if (!m.power && !m.throttling) return {ok("nothing is mounted over the parts of /sys that sensors are in")};
  const std::string what = m.power ? "the RAPL counters (powercap)" : "thermal throttling";
  if (sys != p.path("/sys")) {
    return {
        ok(fmt::format("the container's runtime hides {} below /sys; the host's /sys is at {}", what, sys))};
  }
  out.push_back(m.power
                    ? failure(fmt::format("the container's runtime hides {}", what), std::string(mount_it))
                    : warning(fmt::format("the container's runtime hides {}", what), std::string(mount_it)));
  return out;
}

}  // namespace binnacle::cli::doctor
