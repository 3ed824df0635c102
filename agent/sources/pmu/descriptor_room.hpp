#pragma once

#include <cstddef>

namespace binnacle::agent {

/// Makes room for `wanted` open files beside what the agent needs otherwise, by raising the soft limit as far
/// as the hard one allows (RLIMIT_NOFILE, getrlimit(2)). Gives how many there is room for.
std::size_t make_descriptor_room(std::size_t wanted) noexcept;

}  // namespace binnacle::agent
