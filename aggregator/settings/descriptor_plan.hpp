#pragma once

#include <cstddef>

namespace binnacle::aggregator {

/// How many connections each port of the aggregator may have, so that no port can take the descriptors of
/// another. The health port matters most, because the kubelet asks there.
struct descriptor_plan {
  std::size_t extender, metrics, ops, health;
  std::size_t agents;        ///< sessions
  std::size_t agents_queue;  ///< so many connections in the lobby, and as many in line
  bool is_tight;             ///< the limit is lower than what all ports want
};

/// For a process that may open `limit` descriptors and serves at most `max_nodes` agents. Pure.
descriptor_plan plan_descriptors(std::size_t limit, std::size_t max_nodes);

}  // namespace binnacle::aggregator
