#pragma once

#include "common/system/quiet_thread.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace binnacle {

/// A pipe that no program inherits unless it is given an end. Both ends are −1 if the pipe could not be made.
struct pipe_ends {
  pipe_ends() {
    if (pipe2(fd, O_CLOEXEC) != 0) fd[0] = fd[1] = -1;
  }
  ~pipe_ends() {
    close_end(0);
    close_end(1);
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  void close_end(int which) {
    if (fd[which] >= 0) close(fd[which]);
    fd[which] = -1;
  }
  int release(int which) { return std::exchange(fd[which], -1); }
  int fd[2];
};

/// A running program in a process group of its own. If it still runs when this object is destroyed, it is
/// killed, and waited for a tenth of a second.
class child {
 public:
  explicit child(pid_t pid) : pid_(pid) {}
  ~child() {
    if (pid_ > 0) end();
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t pid() const { return pid_; }
  /// Waits for its end and returns the wait status. Call it when the program has ended.
  int reap() { return wait_for(std::exchange(pid_, -1)); }
  /// How many killed programs of this process have not ended yet. Threads: any.
  static int lingering() { return lingering_; }

 private:
  static int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }
  // A killed process usually ends at once. It may live on for as long as the kernel is busy for it, for
  // example with a file system that has gone. That is left to a thread, so that the caller's loop goes on.
  void end() {
    constexpr int looks = 100;
    kill(-pid_, SIGKILL);
    for (int i = 0; i < looks; ++i) {
      if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ++lingering_;
    try {
      quiet_thread([pid = pid_] {
        wait_for(pid);
        --lingering_;
      }).detach();
    } catch (const std::system_error&) {  // no thread is free: the process stays a zombie and counts
    }
  }

  static inline std::atomic<int> lingering_{0};
  pid_t pid_;
};

}  // namespace binnacle
