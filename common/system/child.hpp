#pragma once

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
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
/// killed and waited for.
class child {
 public:
  explicit child(pid_t pid) : pid_(pid) {}
  ~child() {
    if (pid_ > 0) reap(true);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t pid() const { return pid_; }
  /// Waits for its end and returns the wait status. The wait is short, because the program has ended already
  /// or is killed now.
  int reap(bool kill_first) {
    int status = 0;
    if (kill_first) kill(-pid_, SIGKILL);
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

}  // namespace binnacle
