#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace binnacle {

/// Lets this process open as many descriptors as it may: the soft limit becomes the hard one (RLIMIT_NOFILE,
/// getrlimit(2)). Gives how many that is. Programs that it starts inherit the limit. For `main`.
std::size_t raise_descriptor_limit() noexcept;

/// What a port needs of a process' descriptors: `least` that nobody else may take, and at `most`.
struct port_need {
  std::size_t least, most;
};

/// How many connections each port may have, when the process may open `limit` descriptors and needs `own` for
/// other things: each its `least`, and what is left in proportion to what they want beyond that. So no port
/// can take the descriptors of another. Less than own and all `least` together: each has its `least` all the
/// same. Pure.
std::vector<std::size_t> share_descriptors(std::size_t limit, std::size_t own,
                                           std::span<const port_need> ports);

}  // namespace binnacle
