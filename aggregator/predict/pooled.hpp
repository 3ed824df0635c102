#pragma once

#include "aggregator/predict/statistics.hpp"

#include <span>

namespace binnacle::predict {

/// What the nodes of a class know together: one node's statistics, at the height of the one in the middle of
/// them. Nodes of one model draw watts of one shape at unlike heights (fans, supplies, a meter that reads too
/// high), and each has been at loads of its own. So the nodes' heights are found where their loads overlap,
/// and only then their watts at each load are brought together: a node that reads half too high and alone was
/// ever busy raises nobody's curve. A node whose shape is unlike that of most moves the result hardly. Where
/// no loads overlap, the shape of published servers joins them. Their order does not matter. Costs some 2 µs
/// a node.
statistics pooled(std::span<const statistics* const> nodes);

}  // namespace binnacle::predict
