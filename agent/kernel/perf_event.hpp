#pragma once

#include "common/error.hpp"
#include "common/system/descriptor.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace binnacle::agent {

/// The event to count: those fields of perf_event_attr that name it.
struct perf_encoding {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;

  friend bool operator==(const perf_encoding&, const perf_encoding&) = default;
};

/// Where the event is counted: on one CPU, for everything that runs there or for one cgroup.
struct perf_request {
  perf_encoding event;
  unsigned cpu = 0;
  int cgroup = -1;  ///< descriptor of the cgroup's folder; −1: everything
  int leader = -1;  ///< descriptor of the group's first event; −1: this event leads a new group
};

/// Opens an event that counts from now on, with close-on-exec. On failure the descriptor is empty and errno
/// is set. Tests use openers of their own, since a machine without a PMU can open software events only.
using perf_opener = std::function<descriptor(const perf_request&)>;
/// perf_event_open(2).
descriptor open_perf_event(const perf_request& wanted) noexcept;

/// Events of one PMU that are counted together on one CPU. One read(2) gives all counts at one instant, and
/// the kernel puts either all of the events on the PMU or none. Owns its descriptors.
class perf_group {
 public:
  /// Adds an event; the first one becomes the leader. Returns 0, or the errno with which the kernel refused
  /// the event; the group is then unchanged.
  int add(const perf_opener& open, perf_request wanted);

  struct reading {
    std::uint64_t enabled_ns = 0;           ///< since the group was opened
    std::uint64_t running_ns = 0;           ///< of that, the time on the PMU; less if groups take turns
    std::span<const std::uint64_t> counts;  ///< in the order of add(); valid until the buffer changes
  };
  /// Reads the counts. Nothing if the kernel does not count any more: the CPU went offline, perhaps for a
  /// moment only. The group never counts again then, so open another one. Blocks: for one read(2), about 1 µs
  /// on this CPU and 10 µs on another one (an interrupt there).
  std::optional<reading> read(std::vector<std::uint64_t>& buffer);

  std::size_t size() const noexcept { return events_.size(); }

 private:
  std::vector<descriptor> events_;
  bool of_cgroup_ = false;
  std::optional<std::uint64_t> enabled_ns_;  // as of the last read
};

/// Whether CAP_PERFMON is all that counting on whole CPUs takes. Kernels of Debian and Ubuntu know levels of
/// kernel.perf_event_paranoid above 2, which Linux itself does not; there they let only CAP_SYS_ADMIN count
/// (tried with Debian 12's Linux 6.1, which starts with 3). True if the level below `proc_root` cannot be
/// read.
bool perfmon_suffices(const std::string& proc_root);

/// What to do about an errno of perf_event_open(2), as a sentence. kernel.perf_event_paranoid is read below
/// `proc_root`.
struct perf_refusal {
  errc code = errc::unsupported;
  std::string why;
  std::string remedy;
};
perf_refusal why_refused(int error_number, const std::string& proc_root);

}  // namespace binnacle::agent
