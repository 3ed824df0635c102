#pragma once

#include "common/clock.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

namespace binnacle::agent {

/// Why a figure of the whole machine is not believed.
enum class disbelief : unsigned char {
  none,
  zero,          ///< 0 W, although the machine is on, or a number that its own source withholds
  wrong_unit,    ///< far fewer or more watts than the processors of any machine draw
  below_parts,   ///< less than a part of the machine draws
  below_other,   ///< less than another meter of the same thing
  above_others,  ///< far more than two other meters of the same thing, which agree
  stands_still,  ///< hardly moves while RAPL moves far
  several,       ///< several counters move of which only one should
};

/// Whether a figure (DCMI, the supplies, psys) can be true beside a second one, which measures a part of the
/// same machine (RAPL's packages and memory, psys) or the same thing. Pure.
///
/// The two are not read at the same moment, and a BMC gives the mean over a window of its own. So they differ
/// for a while after a step of the load. A figure that was believed is set aside only when it has
/// contradicted without a break for `below_for`, or at once when it has collapsed. A figure that was set
/// aside is believed again when it has agreed without a break for `back_after`. The first comparison counts
/// at once, because nothing was believed before. A value that is missing for a moment is no break: nobody can
/// say then that the two agree, nor that they do not.
class whole_machine_check {
 public:
  struct settings {
    duration below_for = std::chrono::seconds(60);
    bool may_hang = true;  ///< check whether it stands still; false for a counter, which its own meter judges
    disbelief lower = disbelief::below_parts;  ///< the verdict on a number below the other one's
    duration back_after = std::chrono::seconds(30);
    /// For so long either meter, or a part of the other one, may have no value before that begins the seconds
    /// above anew. Readings fail now and then, and a counter that moves every few seconds has no watts
    /// between its moves.
    duration longest_gap = std::chrono::seconds(20);
    /// The difference that is allowed. RAPL and a BMC's sensor are exact to some percent. psys counts in
    /// joules on some machines, which is 5 W between readings 200 ms apart.
    double tolerance = 0.10;
    double tolerance_watts = 5;
    /// A figure has collapsed if it is below this share of the least that the other meter has said since
    /// `least_over` to twice that ago, without a gap. The least, because the mean of a BMC that gives one a
    /// minute may be of two minutes ago, before a step of the load. A share, because the load may fall for a
    /// second that RAPL's means hide and a quick meter shows; it then falls to what the idle machine draws.
    /// That is more than a tenth of what the processors draw at work. 0: no figure collapses.
    double collapsed_share = 0;
    duration least_over = std::chrono::minutes(3);
    /// A figure stands still if it has stayed within a narrow band for `still_for` and so many readings,
    /// while RAPL moved far enough, and at least a minute ago, because a BMC's mean comes late. The band is
    /// for the last digit of a dead sensor, or of two supplies', which may go to and fro. It is narrow: a
    /// machine that a power limit holds, or a mean over five minutes, hardly moves either. "Far enough" is a
    /// share of what RAPL says, a share of the figure (a BMC's sensors are exact to some percent), never less
    /// than one step of an 8-bit sensor at a supply of 2 kW, and `moved_of_figure` times what the figure has
    /// moved. What RAPL measures is a part of the machine, so a true figure moves about as much as RAPL. It
    /// moves by half of that if two of a BMC's means share the move.
    ///
    /// RAPL's means of a minute (three buckets) are compared. A BMC's mean of a minute does not show a spike,
    /// nor a load that comes and goes each minute.
    duration still_for = std::chrono::minutes(2);
    std::size_t still_reads = 4;
    duration bucket = std::chrono::seconds(20);
    double band_watts = 2;
    double band_share = 0.005;
    double moved_of_figure = 4;
    double moved_share = 0.20;
    double moved_share_of_whole = 0.10;
    double moved_watts = 8;
  };
  explicit whole_machine_check(settings s) : settings_(s) {}

  struct figure {
    double watts = 0;
    instant read_at{};
  };
  /// What the other meter says at the same time.
  struct witness {
    double at_least = 0;    ///< sum of its parts that have a value; 0: none has
    std::size_t parts = 0;  ///< how many have
    bool is_void = false;   ///< it is set aside itself, so it contradicts nothing
    std::size_t which = 0;  ///< the same for the same meter: another one may have taken its place
  };
  /// Makes one comparison. `whole` is nothing if the figure has no value now. Returns why the figure is set
  /// aside, or `none`.
  disbelief look(const std::optional<figure>& whole, const witness& other, instant now);

  /// Ends the verdict, because a better meter speaks for the figure in place of the other one. When that one
  /// is asked again, it needs all its patience.
  void excuse() noexcept {
    for_ = disbelief::none;
    otherwise_since_.reset();
    proven_ = true;
  }

  disbelief set_aside_for() const noexcept { return for_; }
  /// Whether the last comparison contradicted a figure that is still believed.
  bool in_doubt() const noexcept { return for_ == disbelief::none && otherwise_since_.has_value(); }
  /// What the two meters said when the figure was set aside. Units: watts.
  double watts() const noexcept { return watts_; }
  double other_watts() const noexcept { return other_watts_; }

 private:
  bool lacks_part(const witness& other, instant now);
  disbelief compare(const figure& whole, const witness& other, instant now);
  void watch_least(const witness& other, instant now);
  bool has_collapsed(const figure& whole) const;
  bool stands_still(const figure& whole, instant now) const;
  void watch_for_standing(const figure& whole, const witness& other, instant now);
  void begin_moving(const witness& other, instant now);
  void begin_standing(const figure& whole, const witness& other, instant now);

  settings settings_;
  bool proven_ = false;  // it was compared at least once
  disbelief for_ = disbelief::none;
  std::optional<instant> otherwise_since_;  // since when comparisons contradict the present verdict
  double watts_ = 0, other_watts_ = 0;

  // The other meter when it had the most parts, and when it had them last.
  std::size_t complete_of_ = 0, complete_parts_ = 0;
  instant complete_at_{};

  // The least that the other meter said in the last whole span of `least_over`, and in the present one.
  std::optional<double> least_before_;
  double least_ = 0;
  std::optional<instant> least_since_;

  // For the check whether it stands still.
  std::optional<double> lowest_;  // that the figure has been since stood_since_
  double highest_ = 0;
  instant seen_at_{};  // when the figure had a value last
  instant stood_since_{}, last_read_{};
  std::size_t reads_ = 0;
  instant bucket_since_{};
  std::size_t bucket_of_ = 0, bucket_parts_ = 0;  // of which meter the means are, and of how many parts
  double bucket_sum_ = 0;
  std::size_t bucket_count_ = 0;
  struct bucket_end {
    double mean = 0;   // of the bucket
    double moved = 0;  // by how much the means of a minute had moved at its end
  };
  std::array<bucket_end, 3> minute_{};  // the last buckets
  std::size_t buckets_ = 0;             // since the means can be compared
  std::optional<double> least_mean_, most_mean_;
  double moved_ = 0;  // by how much the means had moved a minute ago
};

}  // namespace binnacle::agent
