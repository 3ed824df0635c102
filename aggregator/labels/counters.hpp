#pragma once

#include <cstdint>

namespace binnacle::labels {

/// Patches of nodes since the start.
struct patch_counters {
  std::uint64_t written = 0;  ///< patches that the API server took
  std::uint64_t refused = 0;  ///< patches that it refused: 4xx, 5xx
  std::uint64_t broken = 0;   ///< patches that were not answered
  std::uint64_t woken = 0;    ///< written patches that changed the label which wakes pods
};

}  // namespace binnacle::labels
