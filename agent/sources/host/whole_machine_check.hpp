#pragma once

#include "common/clock.hpp"

#include <chrono>
#include <cstddef>
#include <optional>

namespace binnacle::agent {

/// Why a figure of the whole machine is not believed.
enum class disbelief : unsigned char {
  none,
  zero,          ///< 0 W from a machine that is on
  below_parts,   ///< less than what is a part of it draws
  below_other,   ///< less than another meter of the same thing says
  stands_still,  ///< the same number all the time while RAPL moves
};

/// Whether a figure (DCMI, the supplies, psys) can be true beside a second one, which measures a part of the
/// same machine (RAPL's packages and memory, psys) or the same thing. Pure.
///
/// The two are not read at the same moment, and a BMC gives the mean over a window of its own. So they differ
/// for a while after a step of the load. A figure that was believed is set aside only when it has
/// contradicted without a break for `below_for`. A figure that was set aside is believed again when it has
/// agreed without a break for `back_after`. The first comparison counts at once, because nothing was believed
/// before.
class whole_machine_check {
 public:
  struct settings {
    duration below_for = std::chrono::seconds(60);
    bool may_hang = true;  ///< look whether it stands still; a counter is judged by its meter
    disbelief lower = disbelief::below_parts;  ///< what a number below the other one's means
    duration back_after = std::chrono::seconds(30);
    /// RAPL is exact to some percent, and a BMC's sensor as well; psys counts joules on some machines, which
    /// is 5 W between readings that are 200 ms apart.
    double tolerance = 0.10;
    double tolerance_watts = 5;
    /// It hangs when it read the same so long and so often, and RAPL moved so much so long ago. RAPL's means
    /// over `bucket` are compared, since a spike hardly moves a BMC's mean. So much: a share of what RAPL
    /// says, a share of the figure (a BMC's sensors are exact to some percent), and never less than a step of
    /// a sensor of 8 bits at a supply of 2 kW.
    duration still_for = std::chrono::minutes(2);
    std::size_t still_reads = 4;
    duration moved_before = std::chrono::seconds(60);
    duration bucket = std::chrono::seconds(20);
    double moved_share = 0.20;
    double moved_share_of_whole = 0.10;
    double moved_watts = 8;
  };
  explicit whole_machine_check(settings s) : settings_(s) {}

  struct figure {
    double watts = 0;
    instant read_at{};
  };
  /// What the other meter says at the same look.
  struct witness {
    double at_least = 0;          ///< those of its parts that have a value; 0: none has
    std::optional<double> all{};  ///< all of them, when each has one
    bool is_void = false;         ///< it is not believed itself, so it contradicts nothing
  };
  /// One comparison; `whole` is nothing if it has no value now. Gives why the figure is set aside, if it is.
  disbelief look(const std::optional<figure>& whole, const witness& other, instant now);

  disbelief set_aside_for() const noexcept { return for_; }
  /// What the two said when it was set aside. Units: watts.
  double watts() const noexcept { return watts_; }
  double other_watts() const noexcept { return other_watts_; }

 private:
  disbelief compare(const figure& whole, const witness& other, instant now);
  void watch_for_standing(const figure& whole, const witness& other, instant now);
  void begin_standing(const figure& whole, instant now);

  settings settings_;
  bool proven_ = false;  // compared once
  disbelief for_ = disbelief::none;
  std::optional<instant> otherwise_since_;  // that it is to be otherwise than for_ says
  double watts_ = 0, other_watts_ = 0;

  // Whether it stands still.
  std::optional<double> stood_at_;
  instant stood_since_{}, last_read_{};
  std::size_t reads_ = 0;
  instant bucket_since_{};
  double bucket_sum_ = 0;
  std::size_t bucket_count_ = 0;
  std::optional<double> least_mean_, most_mean_;
  std::optional<instant> moved_at_;
};

}  // namespace binnacle::agent
