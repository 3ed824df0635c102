#pragma once

#include "aggregator/predict/statistics.hpp"

#include <span>

namespace binnacle::predict {

/// What the nodes of a class know together: one node's statistics, at the height of the one in the middle of
/// them. Nodes of one model draw watts of one shape at unlike heights (fans, supplies, a meter that reads too
/// high), and each has been at loads of its own. So the nodes' heights are found where their loads overlap,
/// and only then their watts at each load are brought together: if only one node was ever busy and its meter
/// reads half too high, it raises no other node's curve. Where three nodes or more have been at a load, and
/// most of them (of a large class: of the 16 that have been there longest) are honest, the others move the
/// result there by less than a tenth. Where only one or two have been, one liar makes the load less than
/// twice as dear, and more than half as dear, as long as the class's shape is like that of published servers
/// to within a third. In a class of two, both are believed. Where no loads overlap, the shape of published
/// servers joins them. Their order does not matter. Costs some µs a node.
statistics pooled(std::span<const statistics* const> nodes);

}  // namespace binnacle::predict
