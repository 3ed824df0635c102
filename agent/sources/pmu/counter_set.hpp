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

/// The open counters of a set of events, in groups, on all their CPUs, for the whole machine or for one
/// cgroup. Threads: the agent's loop.
class counter_set {
 public:
  /// `cgroup` is the descriptor of a cgroup's folder, and stays the caller's. −1 counts everything that runs.
  explicit counter_set(perf_opener open, int cgroup = -1);

  /// Opens each planned group on those of its CPUs that are `online`, unless it is open there already, and
  /// closes groups on all other CPUs. If the kernel refuses an event on one of its CPUs, the event is put
  /// into refused() and not tried again before close(): a count that lacks a CPU is not the machine's. Events
  /// for which `most` descriptors or the process's limit of open files leave no room are put into refused(),
  /// too, and the next call tries them again. Blocks: one system call for each event and CPU.
  void open(std::span<const planned_group> plan, std::span<const unsigned> online, std::size_t most);
  void close();

  /// By event: the errno. EMFILE for events for which there was no descriptor.
  const std::map<std::size_t, int>& refused() const noexcept { return refused_; }
  std::size_t reads() const noexcept { return groups_.size(); }

  /// One event on one CPU in one reading.
  struct count {
    std::size_t event = 0;
    unsigned cpu = 0;
    absence reason = absence::none;  ///< not_running, or missing (the CPU went away)
    std::uint64_t rise = 0;          ///< how much it rose, scaled; valid if reason is none
    std::uint64_t enabled_ns = 0;    ///< time since the last read
    std::uint64_t running_ns = 0;    ///< part of that time on the PMU
  };
  /// Reads every group once. A cgroup that did not run on a CPU has the count 0 there. If a group's CPU went
  /// offline, also if it is back, the group is closed, and open() opens it again later.
  void read(std::vector<count>& out);

  /// Whether a hardware group of several events has never had a turn although it was asked for. Such a group
  /// does not fit on its PMU: the NMI watchdog may hold a counter, which the kernel does not consider when it
  /// opens a group.
  bool too_crowded() const noexcept;

 private:
  struct open_group {
    std::size_t planned = 0;
    unsigned cpu = 0;
    bool takes_turns = true;
    perf_group counters;
    std::vector<std::size_t> events;
    std::vector<scaled_counter> meters;
    std::uint64_t enabled_ns = 0, running_ns = 0;  // as of the last read
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
