#include "aggregator/settings/descriptor_plan.hpp"

#include "common/system/descriptor_limit.hpp"

#include <algorithm>
#include <array>

namespace binnacle::aggregator {
namespace {

// Descriptors for the program itself: connections to the API server, files that are read or followed, event
// loops. About a hundred are in use.
constexpr std::size_t own = 192;
// Of each face. A connection of a stranger who sends without end and reads nothing costs 150 KB in the kernel
// (128 KiB of them unread), for which the container pays.
constexpr std::size_t most_callers = 512;
constexpr std::size_t most_queue = 1000;  // agents without a session: so many in the lobby, and in line

}  // namespace

descriptor_plan plan_descriptors(std::size_t limit, std::size_t max_nodes) {
  // These minimums and `own` add up to 832, so they fit into the usual limit of 1,024 open files.
  const std::array<port_need, 5> ports{{
      {128, most_callers},                                            // extender
      {128, most_callers},                                            // custom metrics
      {64, most_callers},                                             // ops
      {64, most_callers},                                             // health
      {256, std::max<std::size_t>(256, max_nodes + 2 * most_queue)},  // agents
  }};
  const auto given = share_descriptors(limit, own, ports);
  bool tight = false;
  for (std::size_t i = 0; i < ports.size(); ++i) tight = tight || given[i] < ports[i].most;
  const std::size_t queue = std::min(most_queue, given[4] / 8);
  return {given[0], given[1], given[2], given[3], given[4] - 2 * queue, queue, tight};
}

}  // namespace binnacle::aggregator
