#pragma once

#include "aggregator/custom_metrics/path.hpp"
#include "aggregator/questions/selector.hpp"
#include "aggregator/store/types.hpp"
#include "common/clock.hpp"

#include <chrono>
#include <string>

namespace binnacle::custom_metrics {

/// A question for values, taken apart: its path, its selectors, and when it was asked.
struct asked {
  path where;
  questions::selector labels;  ///< of the objects
  questions::selector series;
  std::string selector_json;  ///< `series` as a LabelSelector object, or "null"
  std::string caller;         ///< http::request's
  instant now;
  std::chrono::system_clock::time_point wall_now;

  std::chrono::system_clock::time_point wall(instant t) const;
  /// Kubernetes' own sentence for a metric that one object does not have.
  std::string missing() const;
};

/// Why `s` shows no value, and when it last had one: "no value (stale: last read 42.0s ago)".
std::string why_absent(const store::sample& s, instant now);

}  // namespace binnacle::custom_metrics
