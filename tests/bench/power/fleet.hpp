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
  std::size_t kind = 0;      ///< which server of the fleet's list it is
  predict::curve truth;      ///< what it draws
  predict::chords believed;  ///< what the scorer knows, up to the cap
  std::vector<double> raw;   ///< the model as a model server gives it, with its dips, at evenly spaced loads
  double used = 0;           ///< cores
  std::shared_ptr<const predict::model> model = {};  ///< what is believed, as the aggregator has it
  std::shared_ptr<const predict::model> model_of_one_core = {};  ///< the same watts by the share of the load

  /// From now on this is believed: watts at evenly spaced loads, up to the cap.
  void believe(std::vector<double> watts, double cap);
};
using fleet = std::vector<node>;

/// Gives the watts at a server's points as a scorer believes them; they may differ from the true ones.
using belief = std::function<std::vector<double>(const server&, std::size_t kind)>;
std::vector<double> as_it_is(const server& s, std::size_t kind);

/// `each` servers of every kind, empty.
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
  chord_exact,  ///< the same by the cost itself, not rounded to eleven levels
};

enum class ties { random, emptier };

/// Which nodes kube-scheduler looks at for a pod, where it does not look at all: from the node where it
/// stopped for the pod before, until so many have room. Source: kubernetes.io, "Scheduler Performance
/// Tuning".
struct rotation {
  std::size_t enough = 0;  ///< nodes with room
  std::size_t next = 0;    ///< where it begins
};
/// How many nodes of so many are enough, by kube-scheduler's percentageOfNodesToScore; 0: by its own choice.
std::size_t nodes_enough(std::size_t all, int percent) noexcept;

/// The same nodes in another order: kube-scheduler meets the kinds of servers in no order.
fleet shuffled(fleet nodes, std::uint64_t seed = 1);

/// Where a pod of so many cores goes: of the nodes that have room for it, the one with the best score. Below
/// zero: none has. `looks_at`: it chooses among these only; null: among all.
struct wish {
  double cores = 0;
  bool share_of_node = false;  ///< `cores` is a share of each node's own
};
std::ptrdiff_t choose(const fleet& nodes, rule by, wish pod, ties among_equals, dice& random,
                      std::ptrdiff_t except = -1, rotation* looks_at = nullptr);

/// What the pod takes of that node.
double taken(const node& n, wish pod) noexcept;

}  // namespace binnacle::bench
