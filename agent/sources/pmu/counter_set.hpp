#pragma once

#include "agent/kernel/perf_event.hpp"
#include "agent/sources/pmu/event_places.hpp"
#include "agent/sources/pmu/scaled_counter.hpp"
#include "common/absence.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace binnacle::agent {

/// The open groups of a set of events on all their CPUs, for the whole machine or for one cgroup. Threads:
/// the agent's loop.
class counter_set {
 public:
  /// `cgroup` is the descriptor of a cgroup's folder and stays the caller's; −1: everything that runs.
  explicit counter_set(perf_opener open, int cgroup = -1);

  /// Opens each planned group on those of its CPUs that are `online`, where it is not open yet, and closes
  /// groups on all other CPUs. If the kernel refuses an event on one of its CPUs, the event is in refused()
  /// and is not tried again before close(): a count of a part of the machine is not the machine's. Events for
  /// which `most` descriptors or the process's limit of open files leave no room are in refused(), too, and
  /// the next call tries them again. Blocks: one system call for each event and CPU.
  void open(std::span<const planned_group> plan, std::span<const unsigned> online, std::size_t most);
  void close();

  /// errno by event; EMFILE for those that there was no descriptor for.
  const std::map<std::size_t, int>& refused() const noexcept { return refused_; }
  std::size_t reads() const noexcept { return groups_.size(); }

  /// What one reading gives for one event on one CPU.
  struct count {
    std::size_t event = 0;
    unsigned cpu = 0;
    absence reason = absence::none;  ///< not_running, or missing: the CPU went away
    std::uint64_t rise = 0;          ///< scaled; when reason is none
    std::uint64_t enabled_ns = 0;    ///< since the last read
    std::uint64_t running_ns = 0;    ///< of that, on the PMU
  };
  /// Reads every group once. A cgroup that ran nothing on a CPU counted nothing there. A group whose CPU went
  /// offline is closed; open() brings it back.
  void read(std::vector<count>& out);

  /// A hardware group of several events has had no turn at all although it is being asked for: it does not
  /// fit on its PMU (the NMI watchdog may hold a counter, which the kernel does not consider when it opens
  /// one).
  bool too_crowded() const noexcept;

 private:
  struct open_group {
    std::size_t planned = 0;
    unsigned cpu = 0;
    bool takes_turns = true;
    perf_group counters;
    std::vector<std::size_t> events;
    std::vector<scaled_counter> meters;
    std::uint64_t enabled_ns = 0, running_ns = 0;  // of the last read
    unsigned reads_without_turn = 0;
  };
  bool has(std::size_t planned, unsigned cpu) const;
  template <class Predicate>
  void close_if(Predicate which);
  bool open_on(std::size_t number, const planned_group& planned, unsigned cpu, std::size_t most);

  perf_opener open_;
  int cgroup_;
  std::vector<open_group> groups_;
  std::map<std::size_t, int> refused_;
  std::vector<std::uint64_t> buffer_;
  std::size_t descriptors_ = 0;
};

}  // namespace binnacle::agent
