#pragma once

#include "aggregator/extender/placements.hpp"
#include "aggregator/policy/published/published.hpp"
#include "aggregator/store/view.hpp"

#include <vector>

namespace binnacle::extender {

/// For each node, by store::index(): the pods just placed there whose load the values of `by` do not show
/// yet. Nodes beyond the end of the vector have none.
std::vector<placements::unseen> unseen_by_node(placements& placed, const store::view& nodes,
                                               const policy::published_rule& by, instant now);

}  // namespace binnacle::extender
