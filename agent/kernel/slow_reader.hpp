#pragma once

#include "common/clock.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace binnacle::agent {

/// Runs reads that hardware may delay (a chip behind i2c or ACPI, a drive's firmware, CPU frequencies of
/// older kernels) on threads of its own, so that the agent's loop never waits for them. A job that gets stuck
/// in the kernel cannot be ended, so it keeps its thread, and the jobs behind it get another thread, up to a
/// bound. Each caller has at most one job under way, which bounds the queue. Threads: all calls from one
/// thread. Jobs must not throw, and must own what they touch.
class slow_reader {
 public:
  struct options {
    duration patience = std::chrono::seconds(5);  ///< a job that takes longer counts as stuck
    unsigned most_threads = 4;
  };
  slow_reader() : slow_reader(options{}) {}
  explicit slow_reader(options o);
  /// Waits a moment for jobs under way. A stuck job is left until the process ends.
  ~slow_reader();
  slow_reader(const slow_reader&) = delete;
  slow_reader& operator=(const slow_reader&) = delete;

  void run(std::function<void()> job);
  /// Looks for stuck jobs. Call it about once a second while there are jobs.
  void tend(instant now);
  /// Waits until every job is done, at most this long. False if one is not done. For --probe and tests.
  bool wait(duration at_most);

  const options& limits() const noexcept { return options_; }
  unsigned threads() const;

 private:
  struct shared;
  void start_thread();

  options options_;
  std::shared_ptr<shared> shared_;
};

}  // namespace binnacle::agent
