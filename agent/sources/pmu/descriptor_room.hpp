#pragma once

#include <cstddef>

namespace binnacle::agent {

/// Raises the soft limit of open files (RLIMIT_NOFILE, getrlimit(2)) so that `wanted` of them fit beside
/// those that the agent needs anyway, as far as the hard limit allows. Gives how many fit now.
std::size_t make_descriptor_room(std::size_t wanted) noexcept;

}  // namespace binnacle::agent
