#pragma once

#include "aggregator/predict/chords.hpp"
#include "aggregator/predict/model.hpp"
#include "tests/bench/power/dice.hpp"
#include "tests/bench/power/servers.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace binnacle::bench {

/// One node of a simulated fleet.
struct node {
  std::size_t kind = 0;  ///< which server of the fleet's list it is
  predict::curve truth;  ///< what it really draws
  /// What the scorer knows, up to the cap.
  std::shared_ptr<const predict::chords> believed = {};
  /// The model as a model server gives it, with its dips, at evenly spaced loads.
  std::vector<double> raw = {};
  double used = 0;                                   ///< cores
  std::shared_ptr<const predict::model> model = {};  ///< what is believed, as the aggregator has it
  /// The same watts by the share of the load.
  std::shared_ptr<const predict::model> model_of_a_hundred_cores = {};

  /// Sets what the scorer believes: watts at evenly spaced loads, up to the cap.
  void believe(std::vector<double> watts, double cap);
};
using fleet = std::vector<node>;

/// What a scorer believes of a server: the watts at its points, which may differ from the true ones.
using belief = std::function<std::vector<double>(const server&, std::size_t kind)>;
std::vector<double> as_it_is(const server& s, std::size_t kind);

/// Servers of every kind, empty: `each` times its count.
fleet make_fleet(std::span<const server> kinds, std::size_t each, double cap = 1,
                 const belief& known = as_it_is);

double watts(const fleet& nodes);
double cores(const fleet& nodes);
double share_of_fullest(const fleet& nodes);

/// How a pod finds its node.
enum class rule {
  spread,       ///< the least allocated share: kube-scheduler's own scoring, reduced to CPU
  pack,         ///< the most allocated share
  wao_v1,       ///< with the model's dips
  wao_v2,       ///< with the model's dips
  increase,     ///< Binnacle's prioritize call, objective Marginal
  chord,        ///< Binnacle's prioritize call, objective BestChord
  chord_alone,  ///< by the best chord alone, as if a node that was started never emptied again
};

enum class ties { random, emptier };

/// kube-scheduler may look at a part of the nodes for a pod: it begins at the node where it stopped for the
/// pod before, and ends when so many nodes have room. Source: kubernetes.io, "Scheduler Performance Tuning".
struct rotation {
  std::size_t enough = 0;  ///< nodes with room
  std::size_t next = 0;    ///< where it begins
};
/// How many nodes with room are enough for kube-scheduler, of `all` nodes, by its percentageOfNodesToScore.
/// 0: by its own choice.
std::size_t nodes_enough(std::size_t all, int percent) noexcept;

/// The same nodes in a random order, because kube-scheduler does not see them sorted by kind of server.
fleet shuffled(fleet nodes, std::uint64_t seed = 1);

/// What a pod asks for.
struct wish {
  double cores = 0;
  bool share_of_node = false;  ///< `cores` is a share of each node's own
};
/// The node for a pod: of the nodes that have room for it, the one with the best score. Negative: no node has
/// room. `looks_at`: chooses among these nodes only; null: among all.
std::ptrdiff_t choose(const fleet& nodes, rule by, wish pod, ties among_equals, dice& random,
                      std::ptrdiff_t except = -1, rotation* looks_at = nullptr);

/// The cores that the pod takes of this node.
double taken(const node& n, wish pod) noexcept;

}  // namespace binnacle::bench
