#include "aggregator/sender/series_labels.hpp"

#include "common/exposition/target_labels.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::sender {

metrics::label_set outside_labels(const origin& from) {
  metrics::label_set out;
  if (!from.cluster.empty()) out.emplace_back("cluster", from.cluster);
  if (!from.replica.empty()) out.emplace_back("replica", from.replica);
  return out;
}

metrics::label_set target_labels(const origin& from) {
  metrics::label_set out = outside_labels(from);
  out.emplace_back("node", "");  // the value differs from node to node, and the name is what counts
  return out;
}

metrics::label_set series_labels(const metrics::label_set& outside, const point& p) {
  metrics::label_set target = outside;
  target.emplace_back("node", p.node);
  metrics::label_set labels = exposition::with_target(std::move(target), p.series.labels);
  labels.emplace_back("__name__", p.series.family);
  std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
  std::ranges::sort(labels);
  return labels;
}

}  // namespace binnacle::sender
