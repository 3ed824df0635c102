#pragma once

#include <cstdint>

namespace binnacle::replicas {

/// How the route of the state has answered.
struct route_counters {
  std::uint64_t given = 0;
  std::uint64_t strangers = 0;  ///< refused: the caller is not a replica
  std::uint64_t too_early = 0;  ///< refused: there was no state yet, or none worth having
  std::uint64_t busy = 0;       ///< refused: another replica was being answered
};

}  // namespace binnacle::replicas
