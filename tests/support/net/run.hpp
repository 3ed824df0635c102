#pragma once

#include "common/async/task.hpp"

#include <chrono>
#include <functional>

namespace binnacle::support {

/// Runs `body` as a coroutine on a loop of its own until it and all it started have ended; its exception
/// comes out here. Throws when it takes longer than `limit`. The body may capture: it outlives the coroutine.
void run(const std::function<async::task<void>(async::loop&)>& body,
         std::chrono::seconds limit = std::chrono::seconds(20));

}  // namespace binnacle::support
