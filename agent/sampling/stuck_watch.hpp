#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace binnacle::agent {

/// Finds stuck sensors: those whose reading stayed exactly the same over a whole window while similar sensors
/// moved a lot. On an idle machine all sensors of a coarse resolution may stay the same for hours, so a
/// sensor counts as stuck only if nearly all similar ones moved. A small reading never counts: 0 is what a
/// sensor says of a part that is off, and 0.1 W at a resolution of 0.1 W may just be calm. Pure.
class stuck_watch {
 public:
  struct settings {
    duration window = std::chrono::minutes(10);
    std::size_t reads = 20;       ///< successful reads in the window, of the sensor and of each peer
    std::size_t peer_values = 8;  ///< how many different values show that a peer moved
    std::int64_t least = 20;      ///< how many steps of its resolution a reading must be away from 0
    double peer_share = 0.75;     ///< the share of the peers with a value that must have moved
    double witness_span = 0.2;    ///< how far the witness must have moved to stand in for peers
    /// For how long at a stretch a sensor may have no value. A BMC that fails to answer now and then tells
    /// nothing about its sensors.
    duration longest_gap = std::chrono::minutes(1);
  };
  stuck_watch() : stuck_watch(settings{}) {}
  explicit stuck_watch(settings s) : settings_(s) {}

  /// One sensor at one look.
  struct reading {
    std::uint32_t id = 0;  ///< the same at each look
    std::string kind;      ///< sensors of one kind are peers
    std::optional<std::int64_t> value;
    instant read_at{};
  };
  /// Looks at all present sensors. If a sensor of the kind `witnessed` has no peers, the CPU load (`witness`,
  /// 0..1) stands in for them. Nothing is found before the first window is full.
  void look(const std::vector<reading>& all, std::optional<double> witness,
            const std::set<std::string>& witnessed, instant now);

  struct found {
    std::int64_t value = 0;
    instant since{};
  };
  /// The stuck sensors, by id. A sensor leaves the list when its value changes, or when it is gone.
  const std::map<std::uint32_t, found>& stuck() const noexcept { return stuck_; }

 private:
  /// What is known of a sensor in the present window.
  struct track {
    std::string kind;
    std::set<std::int64_t> values;  // at most peer_values
    std::size_t reads = 0;
    instant last_read{};
    instant last_value{};  // the last look at which it had a value, or the window's begin
    bool whole = true;     // no gap was too long
    std::uint64_t seen = 0;
  };
  bool gap_is_too_long(const track& t, instant now) const {
    return now - t.last_value > settings_.longest_gap;
  }
  bool constant(const track& t) const {
    return t.whole && t.reads >= settings_.reads && t.values.size() == 1 &&
           std::abs(*t.values.begin()) >= settings_.least;
  }
  bool moved(const track& t) const {
    return t.reads >= settings_.reads && t.values.size() >= settings_.peer_values;
  }
  void name_stuck(const std::set<std::string>& witnessed, instant now);
  void begin(instant now);

  settings settings_;
  std::optional<instant> began_;
  std::map<std::uint32_t, track> tracks_;
  std::map<std::uint32_t, found> stuck_;
  double least_ = 2, most_ = -1;  // range of the CPU load (0..1) in this window; most_ < least_: no load yet
  std::uint64_t looks_ = 0;
};

}  // namespace binnacle::agent
