#pragma once

#include "aggregator/policy/labels.hpp"
#include "aggregator/store/types.hpp"

#include <map>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// The labels of nodes where there is no Kubernetes: what their Node objects would carry from our policies.
/// Lost with the process, like everything in standalone mode. Pure.
class label_book {
 public:
  using labels = std::map<std::string, std::string>;

  /// Does what is wished; a label that no policy mentions any more goes. True when the node's labels changed.
  bool apply(store::node_id node, const policy::label_wishes& wishes);
  const labels& of(store::node_id node) const;
  /// The node is no longer known.
  void forget(store::node_id node);

 private:
  std::vector<labels> nodes_;  // by node id
};

}  // namespace binnacle::aggregator
