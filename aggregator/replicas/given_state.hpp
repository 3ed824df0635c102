#pragma once

#include "common/error.hpp"

#include <functional>
#include <memory>

namespace binnacle::aggregator {
struct snapshot;
}

namespace binnacle::replicas {

/// Receives a snapshot for another replica. While `held` lives, no other snapshot is taken, so that there are
/// never two in memory.
using given_state = std::function<void(result<aggregator::snapshot> state, std::shared_ptr<const void> held)>;

}  // namespace binnacle::replicas
