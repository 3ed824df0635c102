#pragma once

#include "aggregator/predict/placing.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace binnacle::predict {

/// Equal pods that do not exist, placed one after the other, each where it costs the least by `by`
/// (placing_on()) with those placed before it counted: prioritize gives that node its best score. Nobody can
/// say which of several nodes with equal costs kube-scheduler takes; here it is the one that took the last
/// pod, so that no node more than needed is woken, and then the first in the list.
/// A pod goes to no node whose cost is not known, and to none that it would fill beyond its cap. A pod that
/// was placed counts as demand::in_flight.
/// Cost: one placing_on() for each node, one more for each pod, and a heap's work. Memory: some tens of bytes
/// a node. Pure. What the candidates point to must outlive it.
class what_if {
 public:
  what_if(objective by, const demand& pod, const std::vector<candidate>& nodes);

  /// Places up to `pods` more pods and returns how many found room: fewer only if no node takes another one.
  std::size_t place(std::size_t pods);

  std::size_t pods_on(std::size_t node) const { return nodes_[node].pods; }
  /// Cores in use with the pods that were placed.
  double load_of(std::size_t node) const;
  /// What one more pod would cost there.
  const cost& next_on(std::size_t node) const { return nodes_[node].next; }
  /// The nodes that took pods, in the order of their first ones.
  const std::vector<std::size_t>& filled() const noexcept { return filled_; }

 private:
  struct state {
    candidate before;
    std::size_t pods = 0;
    cost next;
  };
  using offer = std::pair<double, std::size_t>;  // watts, node

  void ask(std::size_t node);
  /// The node for the next pod; none: no node takes it.
  std::optional<std::size_t> choose();

  objective by_;
  demand pod_;
  std::vector<state> nodes_;
  // The cheapest in front, and of equals the first in the list; without `last_`.
  std::priority_queue<offer, std::vector<offer>, std::greater<>> offers_;
  std::optional<std::size_t> last_;
  std::vector<std::size_t> filled_;
};

}  // namespace binnacle::predict
