#pragma once

#include "aggregator/core/changes.hpp"
#include "common/clock.hpp"
#include "common/log/line_throttle.hpp"
#include "common/log/log.hpp"

#include <chrono>

namespace binnacle::aggregator {

/// The log lines of what the core yields. Those about nodes are throttled: a heat wave must not become a
/// flood of lines, and a rack whose meters hang is one matter, not forty. Threads: one at a time.
class core_log {
 public:
  explicit core_log(logger log) : log_(std::move(log)) {}

  void say(const policy_event& e, instant now);
  void say(const policy::condition& c) const;
  void say(const learning_restarted& r, instant now);
  /// Says how many lines were left out, once their time is over; to be called now and then.
  void say_left_out(instant now);

 private:
  const logger log_;
  line_throttle node_lines_{50, std::chrono::seconds(10)};
  line_throttle learning_lines_{10, std::chrono::minutes(1)};
};

}  // namespace binnacle::aggregator
