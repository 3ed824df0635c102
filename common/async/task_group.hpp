#pragma once

#include "common/async/task.hpp"
#include "common/log/log.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace binnacle::async {

/// Owns coroutines. Every coroutine that is spawned here is cancelled and awaited in the end. If an exception
/// leaves a coroutine, it is logged with the coroutine's name and ends only that coroutine. Spawn named
/// functions with by-value parameters, not lambdas with captures: group.spawn("accept", accept_loop(self)).
/// Threads: one loop.
class task_group {
 public:
  task_group(loop& on, logger log);
  /// Cancels the coroutines that still run. The objects that they use must outlive them: call stop() first,
  /// or let the coroutines own these objects.
  ~task_group();
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Starts `work`: at once when called on the loop, otherwise at its next turn.
  void spawn(std::string name, task<void> work);
  /// Runs a task that should go on until it is cancelled. If an exception leaves the task, it is logged, and
  /// a second later `make` is called for a new one. A task that returns is not started again.
  void keep(std::string name, std::function<task<void>()> make);
  /// Asks all coroutines to end: the await of each fails with operation_aborted, and the next one throws.
  /// That exception is not logged.
  void cancel();
  /// Waits until no coroutine is left, also none that was spawned meanwhile. False if `until` passed first.
  /// Only one caller may wait at a time.
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
