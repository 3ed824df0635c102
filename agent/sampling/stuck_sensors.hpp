#pragma once

#include "agent/base/board.hpp"
#include "agent/base/settings.hpp"
#include "agent/sampling/stuck_watch.hpp"

#include <map>
#include <string>
#include <string_view>

namespace binnacle::agent {

/// Looks for stuck sensors on the board (stuck_watch), among our own families of measured watts, degrees, rpm
/// and amperes. Threads: the agent's loop.
class stuck_sensors {
 public:
  explicit stuck_sensors(on_frozen what) : what_(what) {}

  /// Call it after reads; it looks every few seconds. True if the set of stuck sensors may have changed.
  bool look(board& out, instant now);

  /// How many of a source's sensors are stuck.
  std::size_t count(std::string_view source) const;
  /// Which sensors are stuck and since when, in one sentence. Empty if there are none.
  std::string sentence(std::string_view source, const board& from) const;

 private:
  void find(const board& from);

  on_frozen what_;
  stuck_watch watch_;
  instant next_{};
  std::uint64_t found_in_ = 0;  // the board's version when the sensors were looked up
  std::vector<board::series_ref> sensors_;
  board::series_ref load_ = board::no_series;
  std::map<std::string, std::vector<board::series_ref>, std::less<>> by_source_;  // the stuck ones
};

}  // namespace binnacle::agent
