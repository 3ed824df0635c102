#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace binnacle::replicas {
enum class worth : std::uint8_t;  // state_route.hpp
}

namespace binnacle::aggregator {

struct clocks;      // snapshot/snapshot.hpp
struct kept_state;  // snapshot/kept_state.hpp
struct snapshot;

/// What this replica went on from when it started.
struct beginning {
  enum class origin : std::uint8_t { nothing, file, replica };
  bool is_decided = false;        ///< before that no agent is taken
  origin from = origin::nothing;  ///< replica: its own file may say more of some nodes
  bool is_young = true;           ///< what it began with was learned in a few moments, or is nothing
  std::uint64_t asked = 0, refused = 0, failed = 0;  ///< other replicas
};

/// What core::recall() goes on from, node by node: the state that another replica gave, and the one of the
/// replica's own file; none where there is none. If the wall clock was set back since the file was written,
/// nobody knows how old the file is, and only what does not age counts of it. Pure.
std::vector<kept_state> states_to_go_on_from(std::optional<snapshot> given, std::optional<snapshot> of_file,
                                             const clocks& now);

/// How much the state of a replica that began like this is worth to another replica. `up`: the time since its
/// start. `judges`: it knows all policies and judges what agents say. A replica that began with nothing has
/// nothing to give before that, for however long it is up. Pure.
replicas::worth worth_of(const beginning& began, duration up, bool judges) noexcept;

}  // namespace binnacle::aggregator
