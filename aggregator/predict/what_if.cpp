#include "aggregator/predict/what_if.hpp"

namespace binnacle::predict {
namespace {

/// On a straight line of a curve each pod costs the same, but for the rounding of sums.
constexpr double rounding = 1 + 1e-9;

}  // namespace

what_if::what_if(objective by, const demand& pod, const std::vector<candidate>& nodes) : by_(by), pod_(pod) {
  nodes_.reserve(nodes.size());
  for (const candidate& c : nodes) {
    nodes_.push_back({c, 0, {}});
    ask(nodes_.size() - 1);
    if (nodes_.back().next.is == cost::known::yes)
      offers_.emplace(nodes_.back().next.watts, nodes_.size() - 1);
  }
}

double what_if::load_of(std::size_t node) const {
  const state& n = nodes_[node];
  return n.before.load + static_cast<double>(n.pods) * pod_.in_flight;
}

void what_if::ask(std::size_t node) {
  state& n = nodes_[node];
  n.next = placing_on(by_, pod_, {n.before.node, load_of(node)}).costs;
}

std::optional<std::size_t> what_if::choose() {
  const bool last_takes = last_ && nodes_[*last_].next.is == cost::known::yes;
  if (offers_.empty()) return last_takes ? last_ : std::nullopt;
  const auto [watts, node] = offers_.top();
  if (last_takes && nodes_[*last_].next.watts <= watts * rounding) return last_;
  offers_.pop();
  if (last_takes) offers_.emplace(nodes_[*last_].next.watts, *last_);
  return node;
}

std::size_t what_if::place(std::size_t pods) {
  for (std::size_t placed = 0; placed < pods; ++placed) {
    const auto node = choose();
    if (!node) return placed;
    last_ = node;
    if (nodes_[*node].pods++ == 0) filled_.push_back(*node);
    ask(*node);
  }
  return pods;
}

}  // namespace binnacle::predict
