#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace binnacle::predict {

/// How late a meter's watts are, found from how they follow the node's load. A BMC gives the mean of a second
/// to five minutes, seconds to a minute late, and does not say how long or how late. This class finds the
/// delay and the mean with which changes of the load fit the changes of the watts best. Then the load of each
/// reading of watts is known, also on a node whose load never rests. Pure; some 700 bytes.
class meter_lag {
 public:
  /// How often add() is to be called.
  static constexpr std::chrono::seconds step{5};

  /// The mean load 0..1 and the mean watts of the last ten seconds; once each step.
  void add(double load, double watts) noexcept;
  /// Something is missing between the last add() and the next: what is known of the lag stays.
  void skip() noexcept { held_ = 0; }

  /// The load to which the last watts belong. Nothing while the lag is not known, or where the load moved too
  /// much within the meter's mean for one point of a curve.
  std::optional<double> load_of_watts() const noexcept;
  /// Whether it is known how late the meter is.
  bool known() const noexcept { return best_ >= 0; }
  /// Whether the load moved enough, and with no delay and no mean do the watts follow it: the meter means
  /// over longer than is tried, or what it says hardly depends on the load.
  bool follows_none() const noexcept { return looked_ && best_ < 0; }
  /// Whether the meter is known to mean over five minutes; or over less, after five were tried, too.
  bool means_long() const noexcept { return best_ >= of_longest; }
  bool means_short() const noexcept;
  /// By how much the watts come later than the middle of the load that they are of, if known().
  std::chrono::seconds late() const noexcept;

  static constexpr std::size_t delays = 13;  ///< 0, 5 … 60 s
  /// Over how many steps a meter may mean: the load as it was, a minute, five minutes.
  static constexpr std::array<std::size_t, 3> means{1, 12, 60};

 private:
  // The load of so many steps ago, and the mean of so many steps until then.
  double load(std::size_t ago) const noexcept {
    return static_cast<double>(loads_[(at_ + held - ago) % held]);
  }
  double mean(std::size_t ago, std::size_t steps) const noexcept;
  void choose() noexcept;

  // Changes are taken over this many steps: long compared with a step, short compared with a day.
  static constexpr std::size_t change = 6;
  // How many loads in a row each mean needs. The load as it was waits for the minute's: alone, it would be
  // taken for the best.
  static constexpr std::array<std::size_t, means.size()> needed{
      delays + means[1] + change, delays + means[1] + change, delays + means[2] + change};
  static constexpr std::size_t held = needed.back();
  static constexpr int of_longest = (means.size() - 1) * delays;  // best_ of the longest mean, from here on

  std::array<float, held> loads_{};
  std::array<float, change + 1> watts_{};
  std::size_t at_ = 0;      // of the newest
  std::uint32_t held_ = 0;  // in a row without a gap
  // Of each mean: changes, as far as they are remembered, and the sum of squares of the watts' changes.
  std::array<std::uint32_t, means.size()> seen_{};
  std::array<float, means.size()> watts_squared_{};
  // Of each mean and delay: sums of products of changes.
  std::array<std::array<float, delays>, means.size()> both_{}, loads_squared_{};
  std::int8_t best_ = -1;  // mean * delays + delay
  bool looked_ = false;    // the load moved enough to tell
};

}  // namespace binnacle::predict
