#pragma once

#include "common/clock.hpp"

#include <cstddef>
#include <deque>
#include <optional>

namespace binnacle::agent {

/// The probes to one peer within the last `span`, and what they say about the path. Pure.
class path_window {
 public:
  explicit path_window(duration span) noexcept : span_(span) {}

  /// Adds a probe that was sent at `when`: its round trip, or nothing if no answer came in time.
  void add(instant when, std::optional<duration> round_trip) {
    probes_.push_back({when, round_trip});
    while (!probes_.empty() && when - probes_.front().sent >= span_) probes_.pop_front();
  }

  struct summary {
    std::size_t sent = 0;
    std::size_t lost = 0;
    duration round_trip{};  ///< mean over the answered probes; only valid if there are any
    duration jitter{};      ///< mean difference between an answered probe and the answered probe before it
    bool answered() const noexcept { return lost < sent; }
    bool has_jitter() const noexcept { return sent - lost > 1; }
  };
  summary summarize() const noexcept {
    summary s;
    s.sent = probes_.size();
    duration sum{}, differences{};
    std::optional<duration> before;
    for (const auto& p : probes_) {
      if (!p.round_trip) {
        ++s.lost;
        continue;
      }
      sum += *p.round_trip;
      if (before) differences += *p.round_trip > *before ? *p.round_trip - *before : *before - *p.round_trip;
      before = p.round_trip;
    }
    if (const auto answers = static_cast<long>(s.sent - s.lost); answers > 0) {
      s.round_trip = sum / answers;
      if (answers > 1) s.jitter = differences / (answers - 1);
    }
    return s;
  }

 private:
  struct probe {
    instant sent;
    std::optional<duration> round_trip;
  };
  duration span_;
  std::deque<probe> probes_;
};

}  // namespace binnacle::agent
