#pragma once

#include "agent/board.hpp"
#include "agent/sampling/frozen_watch.hpp"

#include <map>
#include <string>
#include <string_view>

namespace binnacle::agent {

enum class on_frozen : unsigned char {
  flag,    ///< say so
  absent,  ///< and take the value away, until the sensor moves
};

/// Looks over the board for sensors that hang (frozen_watch): our own families in watts, degrees, rpm and
/// amperes that measure something. Threads: the agent's loop.
class frozen_sensors {
 public:
  explicit frozen_sensors(on_frozen what) : what_(what) {}

  /// To be called after reads; looks every few seconds. True if what is frozen may be another now.
  bool look(board& out, instant now);

  /// How many of a source's sensors hang.
  std::size_t count(std::string_view source) const;
  /// Which and since when, one sentence; empty when there are none.
  std::string sentence(std::string_view source, const board& from) const;

 private:
  void find(const board& from);

  on_frozen what_;
  frozen_watch watch_;
  instant next_{};
  std::uint32_t found_in_ = 0;  // the board's version
  std::vector<board::series_ref> sensors_;
  board::series_ref load_ = board::no_series;
  std::map<std::string, std::vector<board::series_ref>, std::less<>> by_source_;  // those that hang
};

}  // namespace binnacle::agent
