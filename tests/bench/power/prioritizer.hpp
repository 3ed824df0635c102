#pragma once

#include "aggregator/predict/placing.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/bench/power/fleet.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace binnacle::bench {

/// The product's own prioritize call: it reads ExtenderArgs with a Pod and answers a HostPriorityList. Its
/// view has what the aggregator would know: the nodes' models, and exact loads.
class prioritizer {
 public:
  /// The scores 0..10 of nodes[candidates[i]] for a pod.
  std::vector<double> scores(const fleet& nodes, std::span<const std::size_t> candidates,
                             predict::objective by, wish pod);
  /// CPU time of this thread for the last call, in microseconds: the request is read, scored, recorded and
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
