#pragma once

#include "aggregator/predict/class_sums.hpp"
#include "aggregator/predict/learner.hpp"
#include "aggregator/predict/model.hpp"
#include "aggregator/store/warehouse.hpp"
#include "common/clock.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::aggregator {

/// Learns what each node draws at which load, from the watts and the loads that agents send, while some
/// policy asks for it. Nodes with the same hardware and the same kind of meter learn together.
///
/// It learns here and not at the agents: means of ten seconds are all it needs, agents send these numbers
/// anyway, and the nodes of a kind meet here. So agents of any release are learned from, and there is no
/// state on a node that could be wrong.
///
/// What is left out, besides what predict::learner leaves out: means of windows that are not known well
/// enough, a value that was learned from already, and watts of a meter that lags (BMC, DCMI) while the load
/// moves. A node whose hardware or meter is another one begins anew.
///
/// Time:  an argument. Call tick() at next_deadline() or later.
/// Cost:  ten turns a second, each over a tenth of the nodes: a microsecond or two for one node. Some 500
///        bytes a node.
class power_learning {
 public:
  /// `from` must outlive this.
  explicit power_learning(store::warehouse& from) : store_(from) {}

  /// From now on it learns, or rests. What it has learned stays.
  void learn(bool yes, instant now);

  using news = std::vector<std::pair<store::node_id, std::shared_ptr<const predict::model>>>;
  /// The models that are new, or differ enough from what was said before to matter.
  news tick(instant now);
  instant next_deadline() const noexcept { return next_turn_; }

  void forget(const std::vector<store::node_id>& gone);

  static constexpr std::size_t slices = 10;
  static constexpr duration between_turns = std::chrono::milliseconds(100);
  /// A model is looked at again after so many samples at most.
  static constexpr unsigned rounds_between_estimates = 10;
  /// A meter that lags is not learned from for so long after the load has moved.
  static constexpr duration settle = std::chrono::seconds(10);
  static constexpr double moved = 0.01;  ///< of the mean load, within a second
  /// Curves that differ by less are the same.
  static constexpr double same_watts = 0.005;
  static constexpr duration told_again_after = std::chrono::minutes(1);

 private:
  struct node_state {
    predict::learner own;
    std::string machine;                       // store::machine_of()
    std::string meter;                         // label source of host_power_watts
    std::shared_ptr<const store::row> cells;   // of which
    const store::shape::series* by = nullptr;  // this is the meter's series
    double load = -1;                          // of the last turn
    instant quiet_until{};                     // the load has moved, or the machine is another one
    instant learned_at{};                      // when the last sample's watts were read
    std::shared_ptr<const predict::model> told;
  };
  struct kind {
    predict::class_sums sums;
    predict::statistics all;  // their means
    std::uint32_t nodes = 0;  // that have measured
  };

  bool meet(node_state& n, const store::row& cells, instant now);
  void take(node_state& n, store::node_id id, instant now);
  void pool();
  std::shared_ptr<const predict::model> model_of(const node_state& n, instant now) const;
  static std::string class_of(const node_state& n) { return n.machine + ", by " + n.meter; }

  store::warehouse& store_;
  std::optional<store::warehouse::watched> power_, load_;
  instant next_turn_ = instant::max();
  std::uint32_t turn_ = 0;
  std::vector<std::unique_ptr<node_state>> nodes_;  // by id
  std::map<std::string, kind, std::less<>> kinds_;  // by hardware and meter
  // A node without a meter takes the kind of its hardware whose meter most nodes have.
  std::map<std::string, std::string, std::less<>> usual_kind_;
};

}  // namespace binnacle::aggregator
