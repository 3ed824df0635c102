#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/pmu/counted_event.hpp"
#include "agent/sources/pmu/counter_set.hpp"
#include "agent/sources/pmu/event_meter.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

struct pmu_options {
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  duration period = std::chrono::seconds(1);
  event_wishes wishes;
  bool per_cpu = false;  ///< named events for each CPU, instead of their sum
  std::size_t most_descriptors = 16'384;
};

/// Events that CPUs and memory controllers count: perf_event_open(2), system-wide on every CPU.
///
/// Each group and CPU costs one read(2). The machine's sum is made here, and is absent if a part of it is.
/// Events that this machine does not have are absent (missing) and do not affect others: without a hardware
/// PMU, as in most virtual machines, the software events still count. CPUs may come and go: totals go on from
/// where they were.
class pmu_source final : public source {
 public:
  explicit pmu_source(pmu_options options, clocks time = {}, perf_opener open = open_perf_event);

  std::string_view name() const noexcept override { return "pmu"; }
  duration period() const noexcept override { return options_.period; }
  std::vector<finding> probe() override;
  result<void> discover(board& out) override;
  std::string limitation() const override { return limitation_; }
  result<void> read(board& out) override;

 private:
  /// The key of the machine's sum, where single CPUs have their numbers.
  static constexpr int whole_machine = -1;

  struct tracked {
    counted_event about;
    std::map<int, event_meter> meters;  // by CPU, or the entry whole_machine alone
    board::series_ref running_ratio = board::no_series;
    std::uint64_t enabled_ns = 0, running_ns = 0;  // in this read, over all CPUs
  };
  /// A quotient of two events' rates.
  struct quotient {
    std::string_view family;
    std::string_view above, below;  // names of the two events
    std::map<int, board::series_ref> series;
  };

  void find_events();
  bool tracks(const std::vector<counted_event>& events);
  void track(std::vector<counted_event> events);
  bool relented(std::span<const unsigned> online) const;
  void restart_rates();
  void reopen();
  void open(std::span<const unsigned> online, board& out);
  void announce(std::span<const unsigned> online, board& out);
  void limit();
  result<void> why_nothing() const;
  tracked* find(std::string_view event);
  void set_quotients(board& out);
  void set_running_ratio(tracked& t, board& out);

  pmu_options options_;
  clocks time_;
  perf_opener open_;
  board::group_ref group_ = board::no_group;
  kernel_file online_file_;
  std::string online_;  // the text of the online file when the counters were last opened
  std::vector<tracked> tracked_;
  std::vector<quotient> quotients_;
  std::vector<planned_group> plan_;
  bool one_by_one_ = false;  // count each event in a group of its own, because a group did not fit on its PMU
  bool reopen_ = false;      // a CPU was offline between two reads, or there is a new plan
  counter_set counters_;
  std::vector<counter_set::count> counts_;
  std::vector<std::string> problems_;
  std::string limitation_;
  std::vector<char> buffer_;
};

}  // namespace binnacle::agent
