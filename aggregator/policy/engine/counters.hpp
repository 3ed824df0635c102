#pragma once

#include <cstdint>

namespace binnacle::policy {

/// What the engine has done since the start.
struct engine_counters {
  std::uint64_t updates = 0;   ///< samples taken
  std::uint64_t judged = 0;    ///< strategies judged on one node
  std::uint64_t compared = 0;  ///< rules looked at for that
  std::uint64_t deadlines_met = 0;
};

}  // namespace binnacle::policy
