#pragma once

#include "aggregator/core/changes.hpp"
#include "common/clock.hpp"
#include "common/log/line_throttle.hpp"
#include "common/log/log.hpp"

#include <chrono>

namespace binnacle::aggregator {

/// Logs what the core yields. Lines about nodes are throttled: a heat wave, or a rack of forty nodes whose
/// meters hang, must not flood the log. Threads: one at a time.
class core_log {
 public:
  explicit core_log(logger log) : log_(std::move(log)) {}

  void say(const policy_event& e, instant now);
  void say(const policy::condition& c) const;
  void say(const learning_restarted& r, instant now);
  /// Logs how many lines were left out in a period that has ended. Call it now and then.
  void say_left_out(instant now);

 private:
  const logger log_;
  line_throttle node_lines_{50, std::chrono::seconds(10)};
  line_throttle learning_lines_{10, std::chrono::minutes(1)};
};

}  // namespace binnacle::aggregator
