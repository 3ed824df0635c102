#pragma once

#include <cstddef>

namespace binnacle::agent {

/// Raises the soft limit of open files (RLIMIT_NOFILE, getrlimit(2)), as far as the hard limit allows, so
/// that `wanted` descriptors fit beside those that the agent needs otherwise. Returns how many fit now.
std::size_t make_descriptor_room(std::size_t wanted) noexcept;

}  // namespace binnacle::agent
