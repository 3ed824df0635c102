#pragma once

#include "aggregator/predict/cost.hpp"
#include "aggregator/predict/model.hpp"
#include "aggregator/predict/objective.hpp"
#include "aggregator/predict/placing.hpp"

#include <cstdint>
#include <optional>

namespace binnacle::predict {

/// What a pod would cost on a node, as it was predicted: what the record of a decision keeps of it.
struct watts_cell {
  float now = 0;        ///< watts at the load
  float with = 0;       ///< watts with the pod
  float per_core = 0;   ///< watts: placing::per_core
  float load = 0;       ///< cores measured
  float in_flight = 0;  ///< cores that pods just placed ask for, as far as they count
  cost::known is = cost::known::no;
  model_note model;
};
static_assert(sizeof(watts_cell) <= 32, "thousands of records of thousands of nodes");

/// The last answer about a node, and what it follows from beside the node's model. The pods of a rollout ask
/// the same of thousands of nodes, of which few have another load by the next pod. Reading an answer costs
/// one line of the cache, and no branch that depends on a curve.
struct alignas(64) last_watts {
  std::uint64_t question = 0;  ///< asked_last::number(); 0: there is no answer
  double share = 0;            ///< of the node's cores that was busy
  double asked_for = 0;        ///< cores, by pods in flight
  double watts = 0;            ///< cost::watts
  watts_cell told;

  /// Whether it is what would be computed anew.
  bool answers(std::uint64_t to, double busy, double in_flight) const noexcept {
    return question == to && share == busy && asked_for == in_flight;
  }
};
static_assert(sizeof(last_watts) == 64, "a line of the cache");

/// What was asked of all nodes.
struct pod_question {
  objective by = objective::best_chord;
  demand pod;
  double pod_usage = 0;

  friend bool operator==(const pod_question&, const pod_question&) = default;
};

/// Numbers the questions. Answers are kept from the second time on that a question comes in a row: where each
/// pod is of another size, keeping them would cost time and never pay.
class asked_last {
 public:
  /// The number of `q` if the call before asked the same; else 0. No other question ever had this number.
  std::uint64_t number(const pod_question& q) {
    if (last_ == q) return number_;
    last_ = q;
    ++number_;
    return 0;
  }

 private:
  std::optional<pod_question> last_;
  std::uint64_t number_ = 0;
};

}  // namespace binnacle::predict
