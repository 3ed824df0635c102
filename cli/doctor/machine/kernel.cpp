#include "cli/doctor/checks.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace binnacle::cli::doctor {
namespace {

// CAP_PERFMON came with Linux 5.8, capabilities(7).
constexpr int perfmon_major = 5, perfmon_minor = 8;

finding of_release(const place& p) {
  const auto release = first_line(p.path("/proc/sys/kernel/osrelease"));
  int major = 0, minor = 0;
  if (!release || std::sscanf(release->c_str(), "%d.%d", &major, &minor) != 2)
    return unchecked("the kernel's version cannot be read from /proc/sys/kernel/osrelease");
  if (major < perfmon_major || (major == perfmon_major && minor < perfmon_minor)) {
    return warning(
        fmt::format("Linux {} knows no CAP_PERFMON", *release),
        "give the agent CAP_SYS_ADMIN in its place where it counts CPU events, or a kernel from 5.8 on");
  }
  return ok(fmt::format("Linux {}", *release));
}

finding of_perf(const place& p) {
  const auto level = first_line(p.path("/proc/sys/kernel/perf_event_paranoid"));
  if (!level)
    return warning("the kernel counts no CPU events: there is no perf_event_paranoid",
                   "use a kernel with CONFIG_PERF_EVENTS, or leave pmu out of the agent's sources");
  // Source: Documentation/admin-guide/sysctl/kernel.rst; levels above 2 are a patch of Debian's and Ubuntu's
  // (agent/kernel/perf_event.hpp).
  const int value = std::atoi(level->c_str());
  if (value > 2) {
    return warning(
        fmt::format("perf_event_paranoid is {}: CAP_PERFMON is not enough to count whole CPUs", value),
        "where CPU events are to be counted, set sysctl kernel.perf_event_paranoid=2, which is Linux' own "
        "value");
  }
  if (value <= 0) return ok(fmt::format("perf_event_paranoid is {}: anybody may count whole CPUs", value));
  return ok(fmt::format("perf_event_paranoid is {}: to count whole CPUs takes CAP_PERFMON", value));
}

}  // namespace

findings check_kernel(const place& p) { return {of_release(p), of_perf(p)}; }

}  // namespace binnacle::cli::doctor
