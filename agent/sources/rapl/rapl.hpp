#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/sources/power_rules.hpp"
#include "agent/sources/rapl/energy_meter.hpp"
#include "agent/sources/rapl/power_pmu.hpp"
#include "agent/sources/rapl/powercap_files.hpp"
#include "agent/sources/rapl/rapl_zones.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace binnacle::agent {

struct rapl_options {
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  duration period = std::chrono::seconds(1);
  duration least_period = std::chrono::milliseconds(200);  ///< while a policy watches
  duration still_after = usual_still_after;                ///< after so long without a move a counter is dead
  double tdp_watts = 0;  ///< per package, whatever the kernel says; 0: what the kernel says (AMD: nothing)
  /// How probe() waits between two looks at a counter; blocks.
  std::function<void(duration)> pause = [](duration d) { std::this_thread::sleep_for(d); };
};

/// Power, energy and limits of CPU packages and their parts, from the kernel's powercap tree. If the energy
/// of one cannot be read there (no driver, only the MMIO driver, a runtime that masks it, files of root), it
/// comes from the perf PMU `power`, which has the same counters and needs CAP_PERFMON. That PMU has no limits
/// and no TDP.
///
/// A zone that was seen once stays announced. If it vanishes, its series become absent (missing), and so does
/// the node's sum. Otherwise the sum would silently lack a package. A package with a CPU online that no door
/// shows is announced as missing from the start, for the same reason. Only a psys that never counts leaves
/// the board, once another package's psys counts.
class rapl_source final : public source {
 public:
  explicit rapl_source(rapl_options options, clocks time = {}, perf_opener open = open_perf_event);

  std::string_view name() const noexcept override { return "rapl"; }
  duration period() const noexcept override { return options_.period; }
  duration least_period() const noexcept override { return std::min(options_.period, options_.least_period); }
  std::vector<finding> probe() override;
  result<void> discover(board& out) override;
  std::string limitation() const override { return limitation_; }
  result<void> read(board& out) override;

 private:
  struct limit {
    std::string name;
    constraint_files files;
    board::series_ref series = board::no_series;
  };
  struct metered_zone {
    rapl_zone about;
    std::optional<zone_files> files;       // nothing: the zone vanished, or only the PMU has it
    std::optional<power_counter> counter;  // the PMU's counter, if the files give no energy
    std::uint64_t range_uj = 0;
    energy_meter meter;
    bool idle = false;  // a psys that never counts because another package's does: not on the board
    board::series_ref watts = board::no_series;
    board::series_ref joules = board::no_series;
    // Packages only.
    std::optional<double> tdp_watts;
    std::vector<limit> limits;
    board::series_ref headroom = board::no_series;
    board::series_ref utilization = board::no_series;
  };

  metered_zone* find(const rapl_zone& z);
  void adopt(const rapl_zone& z, const std::vector<power_event>& events, board& out);
  std::string leave_out_closed(std::vector<rapl_zone>& zones, const std::vector<power_event>& events);
  void choose_door(metered_zone& known, const std::vector<power_event>& events);
  bool find_dies_online();
  std::set<std::string> packages_online(const std::set<std::string>& counted) const;
  void adopt_unseen(const std::vector<power_event>& events, board& out);
  void adopt_other_psys(const std::vector<power_event>& events, board& out);
  void announce_package(metered_zone& z, board& out);
  std::optional<double> tdp_of(const rapl_zone& z) const;
  std::string why_no_tdp(const rapl_zone& z) const;
  double most_watts(const rapl_zone& z, std::uint64_t range_uj) const;
  void set_least_watts();
  bool is_idle_psys(const metered_zone& z) const;
  void announce(metered_zone& z, board& out) const;
  void show_live_psys(board& out);
  std::string why_unreadable(const metered_zone& z, const powercap_number& n) const;
  std::string why_unbelieved(const metered_zone& z) const;
  std::string why_faulty(const metered_zone& z, const std::string& what) const;
  powercap_number read_zone(metered_zone& z, board& out);
  void read_package(metered_zone& z, absence reason, board& out);

  rapl_options options_;
  clocks time_;
  perf_opener open_;
  board::group_ref group_ = board::no_group;
  std::vector<metered_zone> zones_;
  std::optional<std::vector<unsigned>> online_;  // the CPUs online when dies_online_ was looked up
  std::set<std::pair<std::string, std::string>> dies_online_;  // package and die of these CPUs
  std::vector<std::string> problems_;                          // of the last discovery
  std::string no_tree_;    // why there is no powercap tree; empty if there is one
  std::string if_closed_;  // what opens energy_uj
  std::string limitation_;
  duration asleep_{};
};

}  // namespace binnacle::agent
