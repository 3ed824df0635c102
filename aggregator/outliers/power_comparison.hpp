#pragma once

#include "aggregator/outliers/power_outliers.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/async/task.hpp"
#include "common/clock.hpp"
#include "common/log/log.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// Compares the power of nodes that are alike, again and again, and writes what it finds into the view
/// (store::node_view::warning) and the log. Threads: the faces loop.
class power_comparison {
 public:
  /// `nodes` and `log` must outlive this.
  power_comparison(policy::view& nodes, const logger& log, duration between_looks = std::chrono::seconds(10),
                   power_outliers::settings s = {})
      : nodes_(nodes), log_(log), between_looks_(between_looks), outliers_(s) {}

  /// Looks again and again, until it is cancelled. It must not outlive this.
  async::task<void> keep_looking();

  const power_outliers& outliers() const noexcept { return outliers_; }

 private:
  static constexpr duration between_lines = std::chrono::minutes(10);  // about one node

  void name_outliers();
  void log_change(const std::string& node, const std::string& said, instant now);

  policy::view& nodes_;
  const logger& log_;
  const duration between_looks_;
  power_outliers outliers_;
  std::vector<power_reading> power_;       // of the look under way, by name
  std::map<std::string, instant> logged_;  // when the log named a node last
};

}  // namespace binnacle::aggregator
