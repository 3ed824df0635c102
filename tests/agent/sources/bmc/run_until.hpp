#pragma once

#include "common/async/task_group.hpp"

#include <chrono>
#include <functional>

namespace binnacle::agent::test {

/// Runs the loop until `done` is true, for at most 15 s. Returns whether it became true.
inline bool run_until(async::loop& loop, const std::function<bool()>& done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(15);
  while (!done() && std::chrono::steady_clock::now() < limit) loop.run_for(std::chrono::milliseconds(10));
  return done();
}

}  // namespace binnacle::agent::test
