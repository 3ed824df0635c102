#pragma once

#include "aggregator/decision/record.hpp"
#include "aggregator/extender/placements.hpp"
#include "aggregator/predict/chord_table.hpp"
#include "aggregator/predict/placing.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace binnacle::extender {

/// What a call by watts asks of each candidate.
struct watts_question {
  predict::objective by;
  predict::demand pod;
  double pod_usage;                         ///< policy::power_terms::pod_usage
  const policy::published_rule& load_rule;  ///< gives the share of a node's cores that is busy
  predict::chord_table::known_nodes models;
  std::span<const placements::unseen> in_flight;  ///< by the node's id
  instant now;
};

struct watts_answer {
  std::vector<predict::cost> costs;         ///< of all candidates
  std::vector<decision::watts_cell> cells;  ///< of those that the record lists
  std::uint32_t opinions = 0;               ///< candidates with a model and a load
  std::uint32_t figures = 0;                ///< of these, without an error
  std::vector<std::uint32_t> implausible;   ///< candidates whose load cannot be, which counts as none
};

/// What the pod would cost on each candidate, from the node's model, its measured load, and the cores that
/// pods just placed there request. Says of each candidate whether it is scored. `loads`: those of the first
/// candidates, as the record lists them; the others are read here.
/// Cost: for each candidate two places in memory, which are fetched ahead, and some 150 instructions. If the
/// call before asked the same, most candidates cost a third of that (predict::last_watts). The results are
/// the same.
watts_answer watts_of(const watts_question& q, std::span<const decision::cell> loads,
                      std::span<decision::candidate> candidates);

}  // namespace binnacle::extender
