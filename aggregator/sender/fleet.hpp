#pragma once

#include "aggregator/store/row.hpp"

#include <memory>
#include <string>
#include <vector>

namespace binnacle::sender {

/// A node at one moment. Its row goes on changing; any thread may read it.
struct fleet_node {
  std::string name;
  std::shared_ptr<const store::row> cells;
  std::string uid = {};  ///< of its Node object; empty: not known, or of no interest
};
/// All nodes that have announced series, each once.
using fleet = std::vector<fleet_node>;

}  // namespace binnacle::sender
