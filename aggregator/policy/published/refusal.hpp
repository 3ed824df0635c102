#pragma once

#include "aggregator/policy/published/published.hpp"

/// What dontschedule says of a node, for all who ask: filter, the waking of refused pods, what-if.
namespace binnacle::policy {

/// Whether a node in this state may not have a pod.
constexpr bool refuses(state s) noexcept { return s == state::violating || s == state::missing; }

/// The verdict on every node while nothing is judged (view::judging_stopped()): onMissing alone decides.
inline verdict verdict_while_stopped(const published_strategy& s) noexcept {
  return {s.on_missing == missing::reject ? state::missing : state::pass, false, 0, 0};
}

}  // namespace binnacle::policy
