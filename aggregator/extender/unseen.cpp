#include "aggregator/extender/unseen.hpp"

namespace binnacle::extender {

std::vector<placements::unseen> unseen_by_node(placements& placed, const store::view& nodes,
                                               const policy::published_rule& by, instant now) {
  const auto crowds = placed.crowds(now);
  std::vector<store::node_id> ids(crowds.size());
  nodes.ids().find_all(
      ids.size(), [&](std::size_t i) { return crowds[i].node; }, ids.data());
  std::vector<placements::unseen> out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == store::name_index::none) continue;
    const std::size_t at = store::index(ids[i]);
    if (at >= out.size()) out.resize(at + 1);
    out[at] = placed.counting(crowds[i], by.load(ids[i]).read_at, by.definition.window);
  }
  return out;
}

}  // namespace binnacle::extender
