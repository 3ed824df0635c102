#pragma once

#include "aggregator/store/view.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::policy {

/// A label that a policy in DryRun would give, and to whom.
struct would_be_label {
  std::string label;  ///< "key=value"
  std::size_t count = 0;
  std::vector<std::string_view> nodes;  ///< the first by name; as long as the view is not touched
};

/// By label. Policies of one name in two namespaces share their keys, and so what is told here. At most
/// `most_names` nodes are named for each. Cost: a look at each node.
std::vector<would_be_label> would_be_labels(const store::view& nodes, std::string_view policy,
                                            std::size_t most_names);

}  // namespace binnacle::policy
