#pragma once

#include "agent/base/board.hpp"
#include "agent/kernel/counter_rate.hpp"
#include "agent/sources/pmu/counted_event.hpp"
#include "agent/sources/pmu/counter_set.hpp"

#include <cstdint>
#include <optional>

namespace binnacle::agent {

/// The sum of an event's counts, of all CPUs or of one, as two series: the total, which never goes back while
/// the agent runs, and its rate. A sum with a part missing is no sum: it is absent for that read.
class event_meter {
 public:
  /// The same series again when they were announced before.
  void announce(const counted_event& about, metrics::label_set labels, board& out, board::group_ref group);
  /// Forgets the rate; the total of a CPU that went offline still counts.
  void retire(board& out);

  /// Forgets both.
  void remove(board& out);

  /// Takes one part of the sum.
  void add(const counter_set::count& part) noexcept;
  /// All parts of this read have been added: sets the series. A sum without any part is missing.
  void settle(instant now, board& out);
  /// It could not be opened: absent until parts come.
  void refuse(absence reason, board& out);
  /// The counters were opened again: what went by meanwhile is not in the total.
  void restart() noexcept { rate_.restart(); }

  /// Why there is no rate of the last read, or none.
  absence reason() const noexcept;
  /// The rate of the last read, if it has one.
  std::optional<double> per_second() const noexcept;

 private:
  double scale_ = 1;
  std::uint64_t total_ = 0;
  counter_rate rate_;
  bool any_ = false;                         // parts of this read
  absence reason_ = absence::none;           // of this read's parts
  absence settled_ = absence::not_read_yet;  // of the last read
  board::series_ref total_series_ = board::no_series;
  board::series_ref rate_series_ = board::no_series;
};

}  // namespace binnacle::agent
