#pragma once

#include "agent/base/board.hpp"
#include "agent/base/settings.hpp"
#include "agent/sampling/stuck_watch.hpp"

#include <map>
#include <string>
#include <string_view>

namespace binnacle::agent {

/// Looks over the board for stuck sensors (stuck_watch): our own families in watts, degrees, rpm and
/// amperes that measure something. Threads: the agent's loop.
class stuck_sensors {
 public:
  explicit stuck_sensors(on_frozen what) : what_(what) {}

  /// To be called after reads; looks every few seconds. True if other sensors may be stuck now.
  bool look(board& out, instant now);

  /// How many of a source's sensors are stuck.
  std::size_t count(std::string_view source) const;
  /// Which and since when, one sentence; empty when there are none.
  std::string sentence(std::string_view source, const board& from) const;

 private:
  void find(const board& from);

  on_frozen what_;
  stuck_watch watch_;
  instant next_{};
  std::uint32_t found_in_ = 0;  // the board's version
  std::vector<board::series_ref> sensors_;
  board::series_ref load_ = board::no_series;
  std::map<std::string, std::vector<board::series_ref>, std::less<>> by_source_;  // the stuck ones
};

}  // namespace binnacle::agent
