#pragma once

#include "agent/base/board.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace binnacle::agent {

/// The parts of which one way to know a figure makes its value: those on the board, and those that are
/// missing. A part is missing if it once counted and has left the board. Without this memory a sum would
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
    bool counted = false;  ///< the way once had a value, and this was in it
    std::string family;
    metrics::label_set labels;  ///< without the one by which its source says whether it counts

    /// os_powercap_power_watts{chip="arm-scmi",zone="SOC 1"}
    std::string name() const;
  };

  /// From now on `found` are the parts on the board. What is known of those that were there before stays.
  void take_stock(std::span<const board::series_ref> found, const board& from);
  /// That part of present() is in the way's value.
  void count(std::size_t i) { present_[i].counted = true; }

  std::span<const part> present() const noexcept { return present_; }
  std::span<const part> missing() const noexcept { return missing_; }

 private:
  std::vector<part> present_, missing_;
};

}  // namespace binnacle::agent
