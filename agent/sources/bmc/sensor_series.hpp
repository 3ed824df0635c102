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

/// The series on the board of the sensors that the helper reads: a group for each sensor, since each is read
/// at a time and a period of its own.
class sensor_series {
 public:
  /// Makes the board have what `from` has planned: new sensors announced, those no longer there or no longer
  /// read forgotten, changed periods taken over. Names, scopes and thresholds follow the inventory.
  void announce(const bmc_snapshot& from, board& out);
  /// One reading to its series. Instants beyond `now` count as `now`: the aggregator takes no sample from the
  /// future.
  void show(const ipmi::reading& r, instant now, board& out);
  std::size_t size() const noexcept { return sensors_.size(); }
  /// Which sensors of the whole machine say 0 W, in one sentence with the remedy; empty for none.
  std::string doubted() const;

 private:
  struct margin {
    double threshold = 0;
    board::series_ref series = board::no_series;
  };
  /// What the BMC says of a span of time; announced when it is first said.
  struct over {
    board::series_ref minimum = board::no_series, average = board::no_series, maximum = board::no_series;
    board::series_ref window = board::no_series;
  };
  struct entry {
    ipmi::sensor about;
    sensor_name name;
    std::uint32_t period_ms = 0;
    board::group_ref group = board::no_group;
    board::series_ref value = board::no_series;  // none: a sensor of states
    board::series_ref role = board::no_series;   // the same value under its role's family
    board::series_ref severity = board::no_series;
    std::vector<margin> margins;
    std::map<std::string, board::series_ref> states;  // seen so far
    over statistics;
    bool doubted = false;  // the last reading was implausible

    bool same_series(const entry& other) const {
      return value == other.value && role == other.role && severity == other.severity &&
             std::equal(margins.begin(), margins.end(), other.margins.begin(), other.margins.end(),
                        [](const margin& a, const margin& b) { return a.series == b.series; });
    }
  };

  entry make(const ipmi::sensor& s, sensor_name name, std::uint32_t period_ms, bool counts, board& out);
  void show_value(entry& e, double value, board& out);
  void show_statistics(entry& e, const std::optional<ipmi::statistics>& over, board& out);
  void show_states(entry& e, const std::vector<std::string>& words, board& out);

  std::map<std::string, entry> sensors_;  // by key
  std::uint32_t inventory_ = 0;           // that sensors_ were made from
};

/// 0 within the thresholds, 1 beyond a non-critical one, 2 beyond a critical or non-recoverable one.
/// Source: IPMI 2.0, 35.14 (a value *at* a threshold is beyond it).
int severity_of(const ipmi::thresholds& limits, double value) noexcept;

}  // namespace binnacle::agent
