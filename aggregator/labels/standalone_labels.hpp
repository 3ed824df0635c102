#pragma once

#include "aggregator/labels/messages.hpp"
#include "aggregator/store/types.hpp"

#include <vector>

namespace binnacle::labels {

/// The labels of nodes where there is no Kubernetes: what their Node objects would carry from our policies.
/// A snapshot takes them through a restart. Pure.
class standalone_labels {
 public:
  /// Sets and removes labels as wished. A label that no policy gives any more is removed. True when the
  /// node's labels changed.
  bool apply(store::node_id node, const policy::label_wishes& wishes);
  const label_map& of(store::node_id node) const;
  /// What the node carried before a restart.
  void recall(store::node_id node, label_map labels);
  /// The node is no longer known.
  void forget(store::node_id node);

 private:
  std::vector<label_map> nodes_;  // by node id
};

}  // namespace binnacle::labels
