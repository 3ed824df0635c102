#include "aggregator/labels/standalone_labels.hpp"

namespace binnacle::labels {

bool standalone_labels::apply(store::node_id node, const policy::label_wishes& wishes) {
  if (nodes_.size() <= store::index(node)) nodes_.resize(store::index(node) + 1);
  label_map& have = nodes_[store::index(node)];
  bool changed =
      std::erase_if(have, [&wishes](const auto& label) { return !wishes.contains(label.first); }) > 0;
  for (const auto& [key, wish] : wishes) {
    switch (wish.what) {
      case policy::label_wish::action::keep:
      case policy::label_wish::action::blocked: break;
      case policy::label_wish::action::remove: changed |= have.erase(key) > 0; break;
      case policy::label_wish::action::set: {
        std::string& value = have[key];
        changed |= value != wish.value;
        value = wish.value;
        break;
      }
    }
  }
  return changed;
}

const label_map& standalone_labels::of(store::node_id node) const {
  static const label_map none;
  return store::index(node) < nodes_.size() ? nodes_[store::index(node)] : none;
}

void standalone_labels::recall(store::node_id node, label_map labels) {
  if (nodes_.size() <= store::index(node)) nodes_.resize(store::index(node) + 1);
  nodes_[store::index(node)] = std::move(labels);
}

void standalone_labels::forget(store::node_id node) {
  if (store::index(node) < nodes_.size()) nodes_[store::index(node)].clear();
}

}  // namespace binnacle::labels
