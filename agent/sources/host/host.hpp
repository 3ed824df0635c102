#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/inlet_sensors.hpp"
#include "agent/base/processor_sensors.hpp"
#include "agent/base/source.hpp"
#include "agent/sources/host/best_of.hpp"
#include "agent/sources/host/part_inventory.hpp"
#include "agent/sources/host/whole_machine_check.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::agent {

struct host_options {
  duration period = std::chrono::seconds(1);
  /// Names of inlet sensors for machines whose BMC gives no inlet, as globs of is_named().
  std::vector<std::string> inlets = usual_inlets;
  /// The hwmon sensors whose sum is host_power_watts where neither a BMC nor RAPL gives it; globs as above.
  std::vector<std::string> powers = usual_powers;
  /// How long after the start no source counts while one that measures more may be there and has not been
  /// read. A helper starts and reads a BMC in seconds, and a BMC that is being reset is back within a minute.
  duration wait = std::chrono::seconds(60);
  /// The kernel's files that describe the machine, for host_hardware_info.
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
};

/// The node's best figures, so that one policy fits a mixed fleet. host_power_watts comes from the first of
/// these that there is: DCMI, the BMC's power sensors, psys, RAPL, the powercap zones of arm-scmi, hwmon's
/// sensors of the processors. host_inlet_temperature_celsius comes from the BMC, else from a hwmon sensor,
/// else from a thermal zone, if its name says inlet. The label `source` says which one it is.
///
/// The figures are made of what other sources put on the board, so this source is read after them. A value is
/// as old as its oldest part, and expires with it. While a part that once counted is missing
/// (part_inventory), a sum is absent; a maximum, too, because it may be lower. Only the sensor of a bay
/// without a supply is left out of a sum. Each source of a figure is a way. A way that contradicts the
/// machine's parts or another way (whole_machine_check) is set aside: its series are withheld (not those of a
/// mere witness), and it is checked again and again. Meanwhile the next way counts, unless it measures less
/// of the machine than the way that counted before.
class host_source final : public source {
 public:
  explicit host_source(host_options options, clocks time = {});

  std::string_view name() const noexcept override { return "host"; }
  duration period() const noexcept override { return options_.period; }
  /// Its read costs little: it reads nothing but the board and the list of CPUs.
  duration least_period() const noexcept override {
    return std::min<duration>(options_.period, std::chrono::milliseconds(200));
  }
  std::vector<finding> probe() override { return {}; }
  result<void> discover(board& out) override;
  /// Which ways are set aside, and why.
  std::string limitation() const override { return limitation_; }
  result<void> read(board& out) override;

 private:
  /// One composite on the board.
  struct figure {
    std::size_t which;                                    // its index in `composites`
    std::vector<part_inventory> parts;                    // by way
    std::vector<std::vector<board::series_ref>> sisters;  // by way: what its meter says besides
    std::vector<std::vector<board::series_ref>> inside;   // by way: what its parts contain
    std::vector<board::series_ref> looked_for;  // by way: has no value while the source seeks the parts
    std::vector<std::vector<whole_machine_check>> checks;  // by way: one for each comparison
    std::vector<disbelief> set_aside_for;                  // by way: why it is set aside
    std::vector<std::string_view> seconds;  // by way: a meter that says as much while it is below its parts
    best_of choice;
    std::optional<std::size_t> announced;  // the way whose series is on the board
    duration stale_after{};                // of that series' group
    board::group_ref group = board::no_group;
    board::series_ref series = board::no_series;
  };

  /// Why a way is set aside, and what to say of it: nothing if its own source says it.
  struct verdict {
    disbelief why = disbelief::none;
    std::string sentence;
  };

  void count_cpus();
  void find_parts(figure& f, const board& from) const;
  void show(figure& f, std::size_t way, duration stale_after, board& out) const;
  void set_aside(figure& f, std::vector<contender>& all, instant now, board& out);
  static void withhold(const figure& f, std::size_t way, bool withheld, board& out);
  static bool is_missed(const figure& f, std::size_t way, const std::vector<contender>& all);
  std::string_view second_of(const figure& f, std::size_t way, double watts, instant now,
                             const board& from) const;
  std::vector<board::series_ref> zeros_of(const figure& f, std::size_t way, const board& from) const;
  static std::optional<std::size_t> witness_of(const figure& f, instant now, const board& from);
  static std::optional<std::size_t> other_way(const figure& f, std::string_view with, instant now,
                                              const board& from);
  static whole_machine_check::witness testimony(const figure& f, std::size_t way, const board& from,
                                                instant now);
  static std::optional<double> agreed_by_others(const figure& f, std::size_t way, instant now,
                                                const board& from);
  verdict judge(figure& f, std::size_t way, std::vector<contender>& all, instant now, board& out);
  verdict compare(figure& f, std::size_t way, const std::vector<contender>& all, instant now, board& out);
  void await_witnesses(const figure& f, std::vector<contender>& all, instant now, const board& from) const;
  void doubt(std::string_view sentence);
  void show_set_aside(std::string_view way, disbelief why, board& out);
  void update(figure& f, instant now, board& out);
  bool is_vouched_for(const figure& f, std::size_t way, instant now, const board& from) const;
  bool lacks_a_socket(const figure& f, std::size_t way) const;
  std::optional<double> least_of_a_socket(const figure& f, std::size_t way, const board& from) const;
  void tell_empty_bays(const figure& f, std::size_t way);
  static const part_inventory::part* silent_supply(const figure& f, std::size_t way, const board& from);
  void set_value(figure& f, std::size_t best, const std::vector<contender>& all, board& out);
  void set_absent(figure& f, std::size_t first_there, const std::vector<contender>& all, instant now,
                  board& out);

  host_options options_;
  clocks time_;
  std::vector<figure> figures_;
  board::group_ref about_ = board::no_group;     // group of series that never change
  std::optional<std::vector<unsigned>> online_;  // the CPUs online when least_watts_ was set
  double least_watts_ = 0;                       // the processors draw more
  unsigned sockets_ = 0;                         // with a CPU online at the start
  std::string limitation_;
  std::set<std::pair<std::string_view, disbelief>> told_;  // ways set aside since the start, and why
  std::uint64_t found_in_ = 0;  // the board's version when the parts were looked up
};

}  // namespace binnacle::agent
