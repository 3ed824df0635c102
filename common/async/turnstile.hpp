#pragma once

#include "common/async/task.hpp"
#include "common/async/timers.hpp"
#include "common/crowd.hpp"

#include <cstddef>
#include <memory>

namespace binnacle::async {

/// Lets costly pieces of work through one at a time, for example the arithmetic of a TLS handshake (half a
/// millisecond). Between two pieces, the loop runs everything else that is ready. So a storm of such work
/// delays a small request by one piece, not by all of them. Networks take turns; within a network it is first
/// come, first served. So a storm from one network delays the work of another one by one piece, too. Threads:
/// one loop.
class turnstile {
 public:
  explicit turnstile(loop& on);
  ~turnstile();
  turnstile(const turnstile&) = delete;
  turnstile& operator=(const turnstile&) = delete;

  /// Waits for the caller's turn. Do the work right after it, without another await.
  task<void> pass(const network& from);
  std::size_t waiting() const noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace binnacle::async
