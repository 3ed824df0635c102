#pragma once

#include "aggregator/predict/objective.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/bench/power/fleet.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace binnacle::bench {

/// The product's own prioritize call: ExtenderArgs with a Pod in, a HostPriorityList out. What the aggregator
/// would know stands in its view: the nodes' models, and loads that are measured exactly.
class prioritizer {
 public:
  /// The scores 0..10 of nodes[candidates[i]] for a pod.
  std::vector<double> scores(const fleet& nodes, std::span<const std::size_t> candidates,
                             predict::objective by, wish pod);
  /// What the last call took, in microseconds of this thread's CPU: the request read, scored, recorded and
  /// answered.
  double took_us() const noexcept { return took_us_; }

 private:
  const std::string& policy_for(predict::objective by, double max_load);

  test::fleet world_;
  std::vector<std::string> names_;
  std::vector<double> loads_;
  double took_us_ = 0;
  std::map<std::pair<predict::objective, double>, std::string> policies_;
};

}  // namespace binnacle::bench
