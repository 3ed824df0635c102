#pragma once

#include "common/error.hpp"
#include "common/system/descriptor.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace binnacle::agent {

/// A program and its arguments. The arguments do not begin with the program's name.
struct helper_command {
  std::string path;
  std::vector<std::string> arguments;
};

/// A child process whose standard input and output are one socket to us. It shares our standard error, has no
/// other descriptor of ours, a bare environment and its own process group, and dies when we die. Threads:
/// start it on the thread that lives as long as the program (prctl(2), PR_SET_PDEATHSIG).
class helper_process {
 public:
  /// Starts the child. Errors: not_found, permission (the program cannot be run), io (no process or socket
  /// can be made).
  static result<helper_process> start(const helper_command& what);
  helper_process(helper_process&& other) noexcept;
  helper_process& operator=(helper_process&& other) noexcept;
  /// Closes the channel, so that the helper can end its session with the BMC: a BMC has few sessions. Kills
  /// the helper if it has not ended after last_words. Blocks for at most that long.
  ~helper_process();
  /// How long a healthy helper takes to end after its channel was closed.
  static constexpr auto last_words = std::chrono::milliseconds(500);

  /// Our end of the socket, non-blocking. The caller may take it away.
  descriptor channel;

  /// Sends SIGKILL to the whole process group. Does not wait.
  void kill() noexcept;
  /// How it ended ("status 1", "signal 9"). Nothing if it still runs. Never blocks.
  std::optional<std::string> reap();

 private:
  void end() noexcept;
  helper_process(pid_t pid, descriptor ours) : channel(std::move(ours)), pid_(pid) {}
  pid_t pid_ = -1;
};

/// Connects to the Unix socket of a sidecar; the result is non-blocking. Errors: invalid_input (the path is
/// too long), not_found, permission, io, each with the remedy.
result<descriptor> dial_helper(const std::string& path);

/// Checks whether this program can be run. Errors: those of start().
result<void> check_helper(const std::string& path);

}  // namespace binnacle::agent
