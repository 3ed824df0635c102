#pragma once

#include "agent/base/board.hpp"
#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/sources/bmc/bmc_snapshot.hpp"
#include "agent/sources/bmc/sensor_names.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

/// The board's series of the sensors that the helper reads. Each sensor has a group of its own, since each is
/// read at its own time and period.
class sensor_series {
 public:
  /// Makes the board match the plan in `from`: announces new sensors, forgets sensors that are gone or not
  /// read any more, and takes over changed periods. Names, scopes and thresholds come from the inventory.
  void announce(const bmc_snapshot& from, board& out);
  /// Puts one reading into its series. A read time after `now` counts as `now`, because the aggregator takes
  /// no sample from the future.
  void show(const ipmi::reading& r, instant now, board& out);
  std::size_t size() const noexcept { return sensors_.size(); }
  /// Which sensors say watts or a temperature that cannot be true (reading_rules.hpp), else whether the
  /// statistics are not believed: one sentence with the remedy. Empty if all is well.
  std::string doubted() const;

 private:
  struct margin {
    double threshold = 0;
    board::series_ref series = board::no_series;
  };
  /// Series of the BMC's statistics over a span of time. They are announced when the first ones come.
  struct over {
    board::series_ref minimum = board::no_series, average = board::no_series, maximum = board::no_series;
    board::series_ref window = board::no_series;
  };
  struct entry {
    ipmi::sensor about;
    sensor_name name;
    std::uint32_t period_ms = 0;
    board::group_ref group = board::no_group;
    board::series_ref value = board::no_series;  // no series for a sensor of states
    board::series_ref role = board::no_series;   // the same value under the family of its role
    board::series_ref severity = board::no_series;
    std::vector<margin> margins;
    std::map<std::string, board::series_ref> states;  // seen so far
    over statistics;
    std::optional<instant> outside_since;  // since when the value lies outside of its statistics
    bool statistics_doubted = false;
    bool doubted = false;  // the last reading was implausible

    bool same_series(const entry& other) const {
      return value == other.value && role == other.role && severity == other.severity &&
             std::equal(margins.begin(), margins.end(), other.margins.begin(), other.margins.end(),
                        [](const margin& a, const margin& b) { return a.series == b.series; });
    }
  };

  entry make(const ipmi::sensor& s, sensor_name name, std::uint32_t period_ms, std::string_view scope,
             board& out);
  void show_value(entry& e, double value, board& out);
  void show_statistics(entry& e, const ipmi::reading& r, instant now, board& out);
  void show_states(entry& e, const std::vector<std::string>& words, board& out);

  std::map<std::string, entry> sensors_;  // by key
  std::uint32_t inventory_ = 0;           // the number of the inventory from which sensors_ was made
};

/// 0 within the thresholds, 1 beyond a non-critical threshold, 2 beyond a critical or non-recoverable one. A
/// value *at* a threshold is beyond it. Source: IPMI 2.0, 35.14.
int severity_of(const ipmi::thresholds& limits, double value) noexcept;

}  // namespace binnacle::agent
