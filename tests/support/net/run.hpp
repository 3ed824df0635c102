#pragma once

#include "common/async/task.hpp"

#include <chrono>
#include <functional>

namespace binnacle::support {

/// Runs `body` as a coroutine on a loop of its own, until it and everything that it started have ended. An
/// exception of `body` is thrown here. Throws if it takes longer than `limit`. `body` may be a lambda with
/// captures, because it outlives the coroutine.
void run(const std::function<async::task<void>(async::loop&)>& body,
         std::chrono::seconds limit = std::chrono::seconds(120));

}  // namespace binnacle::support
