#pragma once

#include "agent/base/board.hpp"
#include "agent/kernel/counter_rate.hpp"
#include "agent/sources/pmu/counted_event.hpp"
#include "agent/sources/pmu/counter_set.hpp"

#include <cstdint>
#include <optional>

namespace binnacle::agent {

/// The sum of an event's counts, over all CPUs or for one, as two series: the total, which never goes back
/// while the agent runs, and its rate. If a part of the sum is missing in a read, the sum is absent for that
/// read.
class event_meter {
 public:
  /// Announces both series. If they were announced before, they are the same ones again.
  void announce(const counted_event& about, metrics::label_set labels, board& out, board::group_ref group);
  /// Forgets the rate. The total stays, since what a CPU counted before it went offline still counts.
  void retire(board& out);

  /// Forgets both series.
  void remove(board& out);

  /// Adds one part of the sum.
  void add(const counter_set::count& part) noexcept;
  /// Call it when all parts of this read have been added; it sets the series. A sum without any part is
  /// missing.
  void settle(instant now, board& out);
  /// The event could not be opened. It is absent until parts come.
  void refuse(absence reason, board& out);
  /// The counters were opened again. What happened meanwhile is not in the total.
  void restart() noexcept { rate_.restart(); }

  /// Why the last read gave no rate; `none` if it gave one.
  absence reason() const noexcept;
  /// The rate of the last read, if it has one.
  std::optional<double> per_second() const noexcept;

 private:
  double scale_ = 1;
  std::uint64_t total_ = 0;
  counter_rate rate_;
  bool any_ = false;                         // this read has brought a part
  absence reason_ = absence::none;           // why a part of this read is missing
  absence settled_ = absence::not_read_yet;  // the outcome of the last read
  board::series_ref total_series_ = board::no_series;
  board::series_ref rate_series_ = board::no_series;
};

}  // namespace binnacle::agent
