#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace binnacle {

/// Lets this process open as many descriptors as it may: the soft limit becomes the hard one (RLIMIT_NOFILE,
/// getrlimit(2)). Gives how many that is. Programs that it starts inherit the limit. For `main`.
std::size_t raise_descriptor_limit() noexcept;

/// How many descriptors a port needs: `least` that no other port may take, and `most` if there are enough.
struct port_need {
  std::size_t least, most;
};

/// How many connections each port may have, if the process may open `limit` descriptors and needs `own` for
/// other things. Each port gets its `least`, and a share of the rest in proportion to what it wants beyond
/// that. So no port can take the descriptors of another. Each gets its `least` even if `limit` is too small
/// for own and all `least` together. Pure.
std::vector<std::size_t> share_descriptors(std::size_t limit, std::size_t own,
                                           std::span<const port_need> ports);

}  // namespace binnacle
