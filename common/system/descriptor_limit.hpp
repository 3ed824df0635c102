#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace binnacle {

/// Raises this process' limit of open descriptors as far as it may: the soft limit becomes the hard one
/// (RLIMIT_NOFILE, getrlimit(2)). Returns the new limit. Programs that the process starts inherit it. For
/// `main`.
std::size_t raise_descriptor_limit() noexcept;

/// The descriptors for a port: at least `least`, which no other port may take, and up to `most` if there are
/// enough.
struct port_need {
  std::size_t least, most;
};

/// How many connections each port may have if the process may open `limit` descriptors and needs `own` of
/// them for other things. Each port gets its `least`, and a share of the rest in proportion to what it wants
/// beyond that. So no port can take the descriptors of another. If `limit` is too small for `own` and all
/// `least`, each port still gets its `least`. Pure.
std::vector<std::size_t> share_descriptors(std::size_t limit, std::size_t own,
                                           std::span<const port_need> ports);

}  // namespace binnacle
