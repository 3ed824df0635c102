#include "agent/kernel/perf_event.hpp"

#include "agent/kernel/kernel_file.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace binnacle::agent {
namespace {

constexpr int most_of_linux = 2;  // the highest level in Documentation/admin-guide/sysctl/kernel.rst

/// "unknown" if it cannot be read.
std::string paranoid_level(const std::string& proc_root) {
  return read_line(proc_root + "/sys/kernel/perf_event_paranoid").value_or("unknown");
}

bool is_of_linux(const std::string& level) { return std::atoi(level.c_str()) <= most_of_linux; }

}  // namespace

descriptor open_perf_event(const perf_request& wanted) noexcept {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = wanted.event.type;
  attr.config = wanted.event.config;
  attr.config1 = wanted.event.config1;
  attr.config2 = wanted.event.config2;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  unsigned long flags = PERF_FLAG_FD_CLOEXEC;
  if (wanted.cgroup >= 0) flags |= PERF_FLAG_PID_CGROUP;
  const auto fd = ::syscall(SYS_perf_event_open, &attr, wanted.cgroup, static_cast<int>(wanted.cpu),
                            wanted.leader, flags);
  return descriptor(static_cast<int>(fd));
}

int perf_group::add(const perf_opener& open, perf_request wanted) {
  wanted.leader = events_.empty() ? -1 : events_.front().get();
  errno = 0;
  auto event = open(wanted);
  if (!event) return errno != 0 ? errno : EIO;
  events_.push_back(std::move(event));
  of_cgroup_ = wanted.cgroup >= 0;
  return 0;
}

std::optional<perf_group::reading> perf_group::read(std::vector<std::uint64_t>& buffer) {
  if (events_.empty()) return std::nullopt;
  // Source: perf_event_open(2), "Reading results": nr, time_enabled, time_running, then a value for each.
  constexpr std::size_t before = 3;
  buffer.resize(before + events_.size());
  ssize_t n = 0;
  do {
    n = ::read(events_.front().get(), buffer.data(), buffer.size() * sizeof buffer[0]);
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(buffer.size() * sizeof buffer[0]) || buffer[0] != events_.size()) {
    return std::nullopt;
  }
  // From a CPU that goes offline the kernel removes each event for good, and a group falls apart. One of
  // several events is then too short. One event alone stays as it is, but the time for which it is enabled no
  // longer passes. (That of a cgroup's event passes only while the cgroup runs.) Source: Linux
  // kernel/events/core.c, __perf_event_exit_context(), list_del_event().
  const auto enabled_before = std::exchange(enabled_ns_, buffer[1]);
  if (!of_cgroup_ && enabled_before == buffer[1]) return std::nullopt;
  return reading{buffer[1], buffer[2], std::span(buffer).subspan(before)};
}

bool perfmon_suffices(const std::string& proc_root) { return is_of_linux(paranoid_level(proc_root)); }

perf_refusal why_refused(int error_number, const std::string& proc_root) {
  switch (error_number) {
    case EACCES:
    case EPERM: {
      const std::string level = paranoid_level(proc_root);
      if (!is_of_linux(level)) {
        return {
            errc::permission,
            fmt::format("kernel.perf_event_paranoid is {}, as Debian and Ubuntu set it: CAP_PERFMON is not "
                        "enough to count events of whole CPUs",
                        level),
            "set sysctl kernel.perf_event_paranoid=2 on the node, which is Linux' own value, and grant the "
            "agent CAP_PERFMON"};
      }
      return {errc::permission,
              fmt::format("the kernel lets only CAP_PERFMON count events of whole CPUs "
                          "(kernel.perf_event_paranoid is {})",
                          level),
              "grant the agent CAP_PERFMON (a container's seccomp profile must let perf_event_open through), "
              "or set sysctl kernel.perf_event_paranoid=0"};
    }
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
      return {errc::unsupported,
              "this machine gives no such counter to its kernel (usual in a virtual machine)",
              "run on the bare machine or give the guest a virtual PMU; software events work without it"};
    case ENOSYS:
      return {errc::unsupported,
              "there is no perf_event_open here (a kernel without CONFIG_PERF_EVENTS, or a "
              "seccomp profile that hides it)",
              "let perf_event_open through, or take pmu out of sources"};
    case EMFILE:
    case ENFILE:
      return {errc::overloaded, "too many open files",
              "raise the agent's limit of open files (LimitNOFILE), or count fewer events"};
    case EBUSY:
      return {errc::io, "another program holds the counter for itself", "end it, or leave this event out"};
    case EINVAL:
      return {errc::invalid_input, "the PMU does not know this event", "check the event's name and bits"};
    default:
      return {errc::io, fmt::format("perf_event_open: {}", describe(error_number)),
              "look at the kernel's log (dmesg), or leave this event out"};
  }
}

}  // namespace binnacle::agent
