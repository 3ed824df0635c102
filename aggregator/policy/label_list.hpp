#pragma once

#include "aggregator/store/view.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// A label of a policy, and the nodes that carry it (or would).
struct listed_label {
  std::string label;  ///< "key=value"
  std::size_t count = 0;
  std::vector<std::string_view> nodes;  ///< the first by name; as long as the view is not touched
};

/// Of a node's labels (`of`: node_view::labels, or would_be for those of a dry run) those that the policy may
/// give, by label. Policies of one name in two namespaces share their keys, and so what is told here. At most
/// `most_names` nodes are named for each. Cost: a look at each node.
std::vector<listed_label> list_labels(const store::view& nodes,
                                      std::map<std::string, std::string> store::node_view::*of,
                                      std::string_view policy, std::size_t most_names);

}  // namespace binnacle::policy
