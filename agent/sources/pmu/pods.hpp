#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/sources/pmu/counted_event.hpp"
#include "agent/sources/pmu/counter_set.hpp"
#include "agent/sources/pmu/event_meter.hpp"
#include "common/system/descriptor.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

struct pod_options {
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  duration period = std::chrono::seconds(10);
  std::size_t most_pods = 64;
  std::size_t most_descriptors = 8192;
};

/// What the CPUs count for each pod of the node, by its cgroup (PERF_FLAG_PID_CGROUP): cycles, instructions,
/// cache misses, context switches, page faults, as far as the machine has them.
///
/// Pods come and go. Each read looks for them, closes those that are gone, and begins with new ones: a
/// bounded number at a time, since every event is opened on every CPU. Counting by cgroup makes the kernel
/// reprogram counters at each switch between pods. So this source is off by default, and has a period of its
/// own.
class pod_source final : public source {
 public:
  explicit pod_source(pod_options options, clocks time = {}, perf_opener open = open_perf_event);

  std::string_view name() const noexcept override { return "pmu-pods"; }
  duration period() const noexcept override { return options_.period; }
  std::vector<finding> probe() override;
  result<void> discover(board& out) override;
  std::string limitation() const override { return limitation_; }
  result<void> read(board& out) override;

 private:
  struct pod {
    descriptor cgroup;
    counter_set counters;
    std::vector<event_meter> meters;  // in the order of events_
    board::series_ref per_cycle = board::no_series;
  };

  /// Finds the events that this machine can count, by opening each of them once. Returns the errno of the
  /// last event that could not be opened, or 0.
  int choose_events(board& out);
  void follow(board& out);
  void adopt(const std::string& uid, const std::string& folder, board& out);
  void forget(std::map<std::string, pod>::iterator it, board& out);
  void read_pod(pod& p, instant now, board& out);
  std::string no_cgroups() const;

  pod_options options_;
  clocks time_;
  perf_opener open_;
  board::group_ref group_ = board::no_group;
  std::vector<counted_event> events_;
  std::vector<planned_group> plan_;
  std::vector<unsigned> online_;
  std::map<std::string, pod> pods_;  // by uid
  std::vector<counter_set::count> counts_;
  std::string limitation_;
};

}  // namespace binnacle::agent
