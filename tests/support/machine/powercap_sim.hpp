#pragma once

#include "common/clock.hpp"
#include "tests/support/machine/powercap_tree.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::support {

/// A powercap tree whose energy counters advance like those of a real machine. They are written in place, so
/// that programs which hold the files open see the change; they wrap at their ranges and have a little noise.
/// A package's cores take most of its energy, dram has a share of its own, and psys has everything and the
/// rest of the board.
class powercap_sim {
 public:
  /// Makes the tree below `root`. `noise` is the relative standard deviation of the power of one step.
  powercap_sim(std::string root, std::vector<zone_spec> zones, double watts_per_package, double noise = 0.01,
               std::uint32_t seed = 1);

  ~powercap_sim();
  powercap_sim(const powercap_sim&) = delete;
  powercap_sim& operator=(const powercap_sim&) = delete;

  /// "120" sets the watts of all packages; lines such as "package-0 150" (or package-0=150) set single ones.
  /// "psys stop" makes the counters of that name stand still, and "psys go" lets them count again; without a
  /// name it is all counters. False for any other text; nothing is set then.
  bool set_watts(std::string_view text);
  /// Advances all counters by this much time and writes them.
  void advance(duration by);

 private:
  struct counter {
    int fd = -1;  // of its energy_uj
    std::string name;
    std::string package;  // the package that it belongs to; empty for psys
    double uj = 0;
    double range_uj = 0;
    double watts = 0;  // only packages: the watts that were set
    double now = 0;    // the watts of this step
    bool stopped = false;
  };
  void add(const std::vector<zone_spec>& zones, std::vector<unsigned>& numbers, const std::string& package);
  static void write(const counter& c);

  std::string root_;
  std::vector<counter> counters_;
  double noise_;
  std::normal_distribution<double> normal_{0, 1};
  std::mt19937 random_;
};

}  // namespace binnacle::support
