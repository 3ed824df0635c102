#pragma once

#include "common/clock.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <random>
#include <vector>

namespace binnacle::bench {

/// The telemetry of one made-up two-socket machine: the families, resolutions and noise of a real agent's
/// rapl and os sources, 40 series in two groups. Pure: time is an argument.
class node_sim {
 public:
  explicit node_sim(std::uint32_t seed, double base_watts);

  static const wire::catalog& catalog();
  static constexpr std::size_t series = 40;

  /// Sets the mean watts of package 0 from the next step on, as when the node gets hot.
  void set_watts(double watts) { watts_[0] = watts; }

  /// Moves the machine on by `dt`, and puts what has changed since the last call into `out`, or everything if
  /// `full`.
  void step(wire::batch& out, bool full, instant now, duration dt);

 private:
  void next_values(duration dt);
  double noise(double sigma) { return std::normal_distribution<double>(0, sigma)(random_); }

  std::minstd_rand random_;
  double watts_[2];
  double energy_[4]{};  // package 0, package 1, dram 0, dram 1: joules
  double load_[3]{1.5, 1.4, 1.3};
  double utilization_ = 0.2;
  double used_ = 40e9;
  std::vector<std::int64_t> now_ = std::vector<std::int64_t>(series),
                            sent_ = std::vector<std::int64_t>(series);
};

}  // namespace binnacle::bench
