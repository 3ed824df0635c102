#pragma once

#include "common/async/task.hpp"
#include "common/async/timers.hpp"
#include "common/crowd.hpp"

#include <cstddef>
#include <list>
#include <memory>

namespace binnacle::async {

/// Lets costly pieces of work (a TLS handshake's arithmetic, half a millisecond) through one at a time, with
/// a turn of the loop for everyone else between two of them. So a storm of them delays a small request by
/// one, not by all. Networks take turns, and within one it goes in the order they came. So a storm from one
/// place delays the work of another by one, too. Threads: one loop.
class turnstile {
 public:
  explicit turnstile(loop& on);
  ~turnstile();
  turnstile(const turnstile&) = delete;
  turnstile& operator=(const turnstile&) = delete;

  /// Waits for the turn; do the work right after it, without another await.
  task<void> pass(const network& from);
  std::size_t waiting() const noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace binnacle::async
