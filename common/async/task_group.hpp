#pragma once

#include "common/async/task.hpp"
#include "common/log/log.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace binnacle::async {

/// Owns coroutines: every one that is spawned is cancelled and awaited by someone. An exception that leaves a
/// coroutine is logged with its name and ends only that one. Spawn named functions with by-value parameters,
/// not lambdas with captures: group.spawn("accept", accept_loop(self)). Threads: one loop.
class task_group {
 public:
  task_group(loop& on, logger log);
  /// Cancels what still runs. Objects the coroutines use must outlive them: stop() first, or let them own
  /// what they use.
  ~task_group();
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Starts `work`: at once when called on the loop, otherwise at its next turn.
  void spawn(std::string name, task<void> work);
  /// Starts what must not end before it is cancelled: when an exception leaves it, that is logged and, a
  /// second later, `make` is asked for another one. One that returns by itself is over.
  void keep(std::string name, std::function<task<void>()> make);
  /// Asks all to end: their present await fails with operation_aborted, the next one throws (silently, up to
  /// here).
  void cancel();
  /// Waits until none is left, also those spawned meanwhile. False when `until` came first. One waiter at a
  /// time.
  task<bool> wait(deadline until = never);
  std::size_t size() const noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// Runs `work` on `to`'s thread; the only way from one loop to another. From any thread.
void post(loop& to, std::function<void()> work);

/// Runs the loop in this thread until it has nothing to do or is stopped. An exception from a handler is
/// logged and the loop goes on.
void run(loop& it, const logger& log);

}  // namespace binnacle::async
