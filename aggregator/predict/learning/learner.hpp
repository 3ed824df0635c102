#pragma once

#include "aggregator/predict/statistics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace binnacle::predict {

/// How often a meter gives samples, as its learner needs to know it.
struct meter_pace {
  /// After so many equal samples in a row, at loads where the node drew other watts before or over half of
  /// all loads, the meter is stuck. It must be more samples than come between two measurements of the meter.
  std::uint8_t most_repeats = 30;
  /// A bin's mean weighs as much as so many samples at most. It should be those of about ten minutes.
  std::uint16_t remembered = statistics::remembered;
};

/// Learns what one node draws at which load from its own meter, sample by sample, in some 280 bytes, and
/// takes nothing from a meter that lies, repeats itself or measures something else than before. `estimate`
/// makes a curve of it. Feed it watts and load of the same moments, or means over the same span. Pure, no
/// clock. When the node's hardware or its kind of meter has changed, the owner begins with a new learner.
class learner {
 public:
  enum class outcome : std::uint8_t {
    learned,
    refused,   ///< no number, watts of 0 or less, a load below 0 or far above 1
    repeated,  ///< the meter says what it said before, though the load has moved: it has not measured since,
               ///< or is stuck at a value that dithers
    outlier,   ///< far from what the node drew at loads like this
    anew_outliers,  ///< so many outliers in a row that what was learned is wrong: it began again
    anew_stuck,     ///< the meter has stood still for long where it must have moved: it began again
    waits,          ///< never given to it: the owner does not know to which load the watts belong
  };

  static constexpr std::size_t outcomes = 7;
  using counters = std::array<std::uint64_t, outcomes>;  ///< samples, by outcome

  learner() = default;
  /// Goes on from what another learner had learned: the arguments come from its functions of these names.
  learner(const statistics& learned, double noise, std::uint32_t samples, std::uint32_t outliers) noexcept;

  /// One sample: the load 0..1, and watts. Without `pace`, samples come once a second. Takes some 30 ns.
  outcome add(double load, double watts, meter_pace pace = {}) noexcept;

  const statistics& learned() const noexcept { return learned_; }
  /// The share of loads from idle to `max_load` at which the node was measured often enough, 0..1: the
  /// confidence in its curve.
  double covered(double max_load = 1) const noexcept;
  /// The typical distance of a sample from the others at its load, as a share of its watts.
  double noise() const noexcept;
  std::uint32_t samples() const noexcept { return samples_; }    ///< learned since it began
  std::uint32_t outliers() const noexcept { return outliers_; }  ///< left out since it began
  /// Whether the meter repeats itself for long where it must have moved, or its value only dithers there.
  bool stuck() const noexcept { return stuck_ || stood_ >= usual_repeats; }

  static constexpr std::uint8_t most_outliers = 20;  ///< in a row, or in a row at one load
  static constexpr std::uint8_t usual_repeats = meter_pace().most_repeats;

 private:
  bool repeats(float load, double watts, std::uint8_t most_repeats) noexcept;
  bool hardly_moves(double load, double watts) noexcept;
  bool known(std::size_t bin) const noexcept;
  bool known_otherwise(double load, double watts) const noexcept;
  bool far_off(double load, double watts) noexcept;
  void begin() noexcept;

  statistics learned_;
  double last_watts_ = 0;
  float lowest_ = 0, highest_ = 0;  // loads since the meter last moved
  float variance_ = 0;              // of distances, as shares of watts
  // Of the last samples in a row whose watts are nearly equal.
  float least_watts_ = 0, most_watts_ = 0;
  std::uint32_t samples_ = 0, outliers_ = 0;
  std::uint8_t in_a_row_ = 0;  // outliers
  // Outliers in each bin, since the last sample that was none there.
  std::array<std::uint8_t, statistics::bins> against_{};
  std::uint8_t repeats_ = 0;
  std::uint8_t contradicted_ = 0;  // of these, at loads where the node drew other watts before
  // Of the samples in a row whose watts are nearly equal: the known bins that the load was in, and how many
  // were left out because they should not be equal.
  std::uint8_t lowest_bin_ = statistics::bins, highest_bin_ = 0, stood_ = 0;
  bool stuck_ = false;
};
static_assert(sizeof(learner) <= 280);

std::string_view to_string(learner::outcome o) noexcept;  ///< "learned", "anew_stuck"…

}  // namespace binnacle::predict
