#pragma once

#include "common/clock.hpp"

#include <cstdint>

namespace binnacle::replicas {
enum class worth : std::uint8_t;  // state_route.hpp
}

namespace binnacle::aggregator {

struct clocks;  // snapshot/snapshot.hpp
struct snapshot;

/// What this replica went on from when it started.
struct beginning {
  enum class origin : std::uint8_t { nothing, file, replica };
  bool is_decided = false;  ///< before that no agent is taken
  origin from = origin::nothing;
  bool is_young = true;  ///< what it began with was learned in a few moments, or is nothing
  std::uint64_t asked = 0, refused = 0, failed = 0;  ///< other replicas
};

/// Which of two states to go on from: the one of the replica's own file, or the one that another replica
/// gave; null where there is none. The newer one counts. But a young state, of a replica that has just
/// started (state_route.hpp), never replaces a file's. Pure.
beginning::origin choose_origin(const snapshot* of_file, const snapshot* given, bool given_is_young,
                                const clocks& now);

/// How much the state of a replica that began like this is worth to another replica. `up`: the time since its
/// start. `judges`: it knows all policies and judges what agents say. Replicas that start together have
/// nothing for each other before that. Pure.
replicas::worth worth_of(const beginning& began, duration up, bool judges) noexcept;

}  // namespace binnacle::aggregator
