// What a node's own meter teaches about its watts, and what is not learned from it.
//
// A sample is a pair (load, watts). It goes into the bin of its load, where a mean is kept (statistics).
// The difficulty is not the mean but what meters do:
//
// - They repeat themselves. A BMC measures every few seconds and says the last number meanwhile. A sample
//   whose watts are those of the sample before, though the load has moved, says nothing about this load:
//   `repeated`. If that goes on for most_repeats samples at loads where the node drew other watts
//   before, or over half of all loads, the meter is stuck. (Over fewer loads a server may be flat, to the
//   watt: one of WAO's models is flat from 60 to 90 %. The loads on both sides then show the curve.)
//   Nobody knows since when, so what was learned may be wrong: learning begins again (`anew_stuck`)
//   and waits for another number.
// - They stick at a value that dithers, by a watt. Then samples in a row are nearly equal, at loads where the
//   node drew other watts each. Those that are not what it drew there are left out (`repeated`). What was
//   learned stays: such a row begins with the first sample that is nearly equal, so little of it was taught.
// - They lie now and then: a spike, a reading of another second. A sample far from the mean of its bin is
//   left out (`outlier`). How far is far follows the noise that this node showed; five times that, and
//   never less than 30 %, since watts rise within a bin, too. Near idle a server's watts may double
//   between two states of its CPU, so only three times the mean is far there, and the noise is not
//   measured there.
// - They change for good: the meter now measures another part of the machine, or in another unit. If every
//   sample is an outlier, after twenty in a row it is the learned curve that is wrong (`anew_outliers`).
//   A second power supply, a new disk shelf or another limit changes the watts by less than what is far. Then
//   nothing begins again here: each mean follows, within ten minutes of samples at its load (meter_pace). The
//   loads that the node has not had since keep the old watts. Where these contradict the new ones, the owner
//   begins with a new learner.
// - They lied before there was anything to compare with: a spike while a bin was new. Then the outliers at
//   this load are honest, and the samples at other loads are none. After twenty in a row at one load only
//   this bin begins again.
//
// A bin judges samples only from least_samples on: the first ones have nothing to be compared with. The
// whole state has a fixed size (static_assert in the header), because there is one for every node.

#include "aggregator/predict/learning/learner.hpp"

#include "aggregator/predict/learning/estimate.hpp"

#include <algorithm>
#include <cmath>

namespace binnacle::predict {
namespace {

constexpr double noise_memory = 1.0 / 64;
constexpr double sigmas = 5;
/// Watts rise within a bin, too, so a sample that is nearer than this is no outlier.
constexpr double least_outlier = 0.3;
/// The watts of a server may double when it leaves idle: there a sample must be farther off.
constexpr double least_outlier_near_idle = 2;
constexpr std::size_t bins_near_idle = 2;
/// A meter of whole watts may repeat itself at a load that stands still.
constexpr float moved = 0.02F;
/// No server's watts are flat over so much of its loads. Over less they may be, to the watt.
constexpr float moved_far = 0.5F;
/// At a load, these are other watts.
constexpr double other_watts = 0.1;
/// Watts are nearly equal within this.
constexpr float nearly = 1.02F;
/// Between bins nearer than this, watts may well be nearly equal.
constexpr int far_bins = 2;

}  // namespace

learner::learner(const statistics& learned, double noise, std::uint32_t samples,
                 std::uint32_t outliers) noexcept
    : learned_(learned),
      variance_(static_cast<float>(noise * noise)),
      samples_(samples),
      outliers_(outliers) {}

void learner::begin() noexcept {
  learned_ = {};
  variance_ = 0;
  samples_ = outliers_ = 0;
  in_a_row_ = 0;
  against_ = {};
  least_watts_ = most_watts_ = 0;
  stood_ = 0;
}

/// Whether the meter repeats itself while the load moves.
bool learner::repeats(float load, double watts, std::uint8_t most_repeats) noexcept {
  if (watts != last_watts_) {
    last_watts_ = watts;
    lowest_ = highest_ = load;
    repeats_ = contradicted_ = 0;
    stuck_ = false;
    return false;
  }
  lowest_ = std::min(lowest_, load);
  highest_ = std::max(highest_, load);
  if (highest_ - lowest_ <= moved) return false;
  if (repeats_ < most_repeats) ++repeats_;
  if (contradicted_ < most_repeats && known_otherwise(static_cast<double>(load), watts)) ++contradicted_;
  return true;
}

/// Whether the meter has said nearly the same at loads where the node drew other watts each, and this sample
/// is not what it drew there. Where a server is flat, it is known to be flat. A meter that has long done so
/// teaches nothing of a load that is new, either.
bool learner::hardly_moves(double load, double watts) noexcept {
  const auto bin = static_cast<std::uint8_t>(statistics::bin_of(load));
  const auto w = static_cast<float>(watts);
  least_watts_ = std::min(least_watts_, w);
  most_watts_ = std::max(most_watts_, w);
  if (most_watts_ > nearly * least_watts_) {
    least_watts_ = most_watts_ = w;
    lowest_bin_ = statistics::bins;
    highest_bin_ = stood_ = 0;
  }
  if (!known(bin)) return stood_ >= usual_repeats;
  lowest_bin_ = std::min(lowest_bin_, bin);
  highest_bin_ = std::max(highest_bin_, bin);
  if (highest_bin_ < lowest_bin_ + far_bins || !known(lowest_bin_) || !known(highest_bin_)) return false;
  const bool must_have_moved = learned_.watts(highest_bin_) > (1 + other_watts) * learned_.watts(lowest_bin_);
  return must_have_moved && known_otherwise(load, watts);
}

bool learner::known(std::size_t bin) const noexcept { return learned_.samples(bin) >= least_samples; }

/// Whether the node drew other watts before at loads like this.
bool learner::known_otherwise(double load, double watts) const noexcept {
  const std::size_t b = statistics::bin_of(load);
  return known(b) && std::abs(watts / learned_.watts(b) - 1) > other_watts;
}

/// Whether a sample is far from the others at its load; counts how far they are usually.
bool learner::far_off(double load, double watts) noexcept {
  const std::size_t b = statistics::bin_of(load);
  if (!known(b)) return false;
  const double times = watts / learned_.watts(b);
  const double off = std::max(times, 1 / times) - 1;
  if (off > std::max(sigmas * noise(), b < bins_near_idle ? least_outlier_near_idle : least_outlier))
    return true;
  if (b >= bins_near_idle)
    variance_ += static_cast<float>(noise_memory * (off * off - static_cast<double>(variance_)));
  return false;
}

learner::outcome learner::add(double load, double watts, meter_pace pace) noexcept {
  if (!std::isfinite(load) || !std::isfinite(watts) || watts <= 0 || load < 0 || load > 1.1)
    return outcome::refused;
  load = std::min(load, 1.0);
  if (repeats(static_cast<float>(load), watts, pace.most_repeats)) {
    const bool must_have_moved = contradicted_ >= pace.most_repeats || highest_ - lowest_ >= moved_far;
    if (stuck_ || repeats_ < pace.most_repeats || !must_have_moved) return outcome::repeated;
    begin();
    stuck_ = true;
    return outcome::anew_stuck;
  }
  if (hardly_moves(load, watts)) {
    if (stood_ < usual_repeats) ++stood_;
    return outcome::repeated;
  }
  auto what = outcome::learned;
  const std::size_t bin = statistics::bin_of(load);
  if (far_off(load, watts)) {
    ++outliers_;
    const bool all_wrong = ++in_a_row_ >= most_outliers, bin_wrong = ++against_[bin] >= most_outliers;
    if (all_wrong) {
      begin();
      what = outcome::anew_outliers;
    } else if (bin_wrong) {
      learned_.forget(bin);
    } else {
      return outcome::outlier;
    }
  }
  in_a_row_ = 0;
  against_[bin] = 0;
  learned_.add(load, watts, 1, pace.remembered);
  ++samples_;
  return what;
}

double learner::covered(double max_load) const noexcept {
  std::size_t enough = 0;
  const std::size_t end = statistics::bin_of(max_load) + 1;
  for (std::size_t b = 0; b < end; ++b) enough += known(b) ? 1 : 0;
  return static_cast<double>(enough) / static_cast<double>(end);
}

double learner::noise() const noexcept { return std::sqrt(static_cast<double>(variance_)); }

std::string_view to_string(learner::outcome o) noexcept {
  switch (o) {
    case learner::outcome::learned: return "learned";
    case learner::outcome::refused: return "refused";
    case learner::outcome::repeated: return "repeated";
    case learner::outcome::outlier: return "outlier";
    case learner::outcome::anew_outliers: return "anew_outliers";
    case learner::outcome::anew_stuck: return "anew_stuck";
    case learner::outcome::waits: return "waits";
  }
  return "unknown";
}

}  // namespace binnacle::predict
