#pragma once

#include "common/clock.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace binnacle::agent {

/// Runs reads that hardware may keep waiting (a chip behind i2c or ACPI, a drive's firmware, CPU frequencies
/// of older kernels) on threads of its own, so that the agent's loop never waits for them. A job that gets
/// stuck in the kernel keeps its thread, since nothing can end it; the jobs behind it get another one, up to
/// a bound. Whoever gives jobs has at most one under way and so bounds the queue. Threads: all calls from one
/// thread; jobs must not throw and must own what they touch.
class slow_reader {
 public:
  struct options {
    duration patience = std::chrono::seconds(5);  ///< a job that takes longer is stuck
    unsigned most_threads = 4;
  };
  slow_reader() : slow_reader(options{}) {}
  explicit slow_reader(options o);
  /// Waits a moment for jobs under way; a stuck one is left to the end of the process.
  ~slow_reader();
  slow_reader(const slow_reader&) = delete;
  slow_reader& operator=(const slow_reader&) = delete;

  void run(std::function<void()> job);
  /// Looks after stuck jobs: call it about once a second while there are jobs.
  void tend(instant now);
  /// Waits until every job given is done, at most this long; false if one is not. For --probe and tests.
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
