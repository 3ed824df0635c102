#pragma once

#include "agent/base/board.hpp"
#include "common/clock.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace binnacle::agent {

/// The parts of which one way to know a figure makes its value: those on the board, and those that are
/// missing. A part is missing if it once had a value and has left the board. Without this memory a sum would
/// silently lack it. It is missing until it is back, or another series on the board contains it (a sensor of
/// the whole machine, or a zone around it). A sensor of a BMC is back when one of its name and entity is on
/// the board, whatever its id. Pure. Cost of taking stock: parts × (parts + series on the board), at a change
/// of the catalog only.
class part_inventory {
 public:
  /// How many missing parts are kept. One is enough for a sum to be absent.
  static constexpr std::size_t most_missing = 256;

  /// What tells the series from others is kept, because the series may go.
  struct part {
    board::series_ref ref = board::no_series;
    bool counted = false;                   ///< it has had a value
    std::optional<instant> silent_since{};  ///< see is_empty_bay()
    bool empty_bay = false;
    std::string family;
    metrics::label_set labels;  ///< without the one by which its source says whether it counts

    /// os_powercap_power_watts{chip="arm-scmi",zone="SOC 1"}
    std::string name() const;
  };

  /// From now on `found` are the parts on the board. What is known of those that were there before stays.
  void take_stock(std::span<const board::series_ref> found, const board& from);
  /// That part of present() has a value.
  void count(std::size_t i);
  /// Whether that part of present() is the sensor of a bay without a supply, which a sum may leave out.
  /// `silent`: it has no reading now, while another part has a value. It is an empty bay if it has never had
  /// a value and has been silent for `wait` without a break. Later breaks need no such wait again.
  ///
  /// A supply that is fed has a reading within seconds of the BMC's first one. So the sum without such a part
  /// is less than the machine draws only if a supply is fed there and its sensor has been dead ever since it
  /// is on the board. Nothing on the node tells that from an empty bay. A part that has had a value is never
  /// an empty bay.
  bool is_empty_bay(std::size_t i, bool silent, instant now, duration wait);

  std::span<const part> present() const noexcept { return present_; }
  std::span<const part> missing() const noexcept { return missing_; }

 private:
  std::vector<part> present_, missing_;
};

}  // namespace binnacle::agent
