#pragma once

#include "aggregator/predict/cost.hpp"
#include "aggregator/predict/objective.hpp"
#include "aggregator/predict/pod_cpu.hpp"
#include "aggregator/predict/wao/wao_v1.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace binnacle::predict {

/// A pod as the objectives see it.
struct demand {
  double cores = 0;                     ///< that it will keep busy
  double in_flight = 0;                 ///< what prioritize counts it as once it is placed
  double wao_need = 0;                  ///< wao_v2::need()
  wao_v1::container_cpu wao_container;  ///< its first container

  friend bool operator==(const demand&, const demand&) = default;
};
/// `usage`: the share of its CPU request that a pod is assumed to use. WAO's objectives do not apply it to
/// the pod that is placed: `cores` is what theirs takes it to use. Once it is placed, every objective counts
/// that share of its request, for what is in flight is counted once for all policies. WAO counts otherwise:
/// docs/power.md says how.
demand demand_of(const pod_cpu& pod, double usage, objective by = objective::best_chord);

/// A candidate: what is known of it up to the cap, and its load in cores, what is in flight included. Null:
/// no model, or no load.
struct candidate {
  const chords* node = nullptr;
  double load = 0;
};

/// A pod that asks for nothing would cost nothing on every node, and an idle node would be as good as a busy
/// one. So a pod is ranked as if it used at least what kube-scheduler takes a silent container to use. What
/// it counts as once it is placed stays as it is.
inline constexpr double least_ranked_cores = cores_of_silent_container;

/// What a pod costs on a candidate, and what the cost is made of, for people.
struct placing {
  cost costs;
  double now = 0;   ///< watts at the load
  double with = 0;  ///< watts with the pod
  /// Watts per core: by BestChord the price of a core (price()), otherwise the slope of the best chord.
  double per_core = 0;
};

/// By BestChord, what a core costs on a node, in watts. `chord` is the slope of the best chord for the pod.
/// It would be the price if no pod ever went: the step of a node that was started is spent. But pods go. A
/// started node that gets no further pod empties, and its step is saved. So each pod that keeps a node
/// started costs what its cores cost in the mean from idle on: in_the_long_run(). How long pods live, and how
/// many will come, nobody knows here. Half of each is the choice between them that serves both. In the long
/// run an emptier node costs more than a fuller one of its kind, since it could empty sooner. How much more
/// is not known, either. A fifth at idle did well in simulated fleets, with pods that go and with pods that
/// stay: README.md has the figures.
inline double price(const chords& node, const chords::place& here, double chord) noexcept {
  constexpr double more_if_empty = 0.2;
  const double mean = std::max(chord, node.in_the_long_run(here));
  return 0.5 * (chord + mean * (1 + more_if_empty * node.share_free(here)));
}

/// The cost by one of WAO's objectives, on a candidate with a model.
cost cost_as_wao(objective by, const demand& pod, const candidate& c);

/// What a pod costs on one candidate by `by`. Costs are known::no without a model.
placing placing_on(objective by, const demand& pod, const candidate& c);

/// The same on a candidate with a model. Prioritize asks it for thousands of nodes. So it is compiled into
/// that loop, once for each objective: there the result stays in registers, and nothing asks for the
/// objective again. g++ takes it for too large to be inlined, and has to be told.
template <objective By>
[[gnu::always_inline]] inline placing placing_on(const demand& pod, const candidate& c) {
  const chords& node = *c.node;
  const chords::place here = node.at(c.load), with_pod = node.at(c.load + pod.cores);
  placing out{.now = here.watts(), .with = with_pod.watts()};
  const double ranked = std::max(pod.cores, least_ranked_cores);
  const chords::place with_ranked = ranked > pod.cores ? node.at(c.load + ranked) : with_pod;
  if constexpr (By == objective::best_chord) {
    out.per_core = price(node, here, node.from(here, with_ranked));
    out.costs = cost_of(node, c.load, ranked, ranked * out.per_core);
  } else {
    out.per_core = node.from(here, with_pod);
    out.costs = By == objective::marginal ? cost_of(node, c.load, ranked, with_ranked.watts() - out.now)
                                          : cost_as_wao(By, pod, c);
  }
  // Costs know no load beyond the cap. People are told what the node draws there.
  if (c.load + pod.cores > node.cap()) {
    out.with = node.watts_beyond_cap(c.load + pod.cores);
    if (c.load > node.cap()) out.now = node.watts_beyond_cap(c.load);
  }
  return out;
}

/// Writes the scores 0..10 by `by` of all candidates, whose costs placing_on() gave: those of score_costs(),
/// or WAO's scores of 0..100 divided by ten. With WAO's objectives a candidate without a model or a figure
/// gets 0, and every other candidate at least 1. That least score goes to full nodes in WAO's second version,
/// and in its first to the dearest node, or to all nodes if they cost the same. The spans have one size.
/// Returns the candidates whose costs did not count as they are: those of score_costs(), none with WAO's
/// objectives.
std::vector<std::uint32_t> score(objective by, std::span<const cost> costs, std::span<std::uint8_t> scores);

}  // namespace binnacle::predict
