#include "agent/sources/bmc/helper_process.hpp"

#include "agent/process/standard_descriptors.hpp"
#include "common/clock.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace binnacle::agent {
namespace {

// The child gets nothing of our environment. It may hold secrets, and some of its variables change how the
// helper's libraries behave.
constexpr std::array bare_environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};

// Runs in the child between fork and exec, so it calls only async-signal-safe functions.
[[noreturn]] void become(int channel, pid_t parent, char* const* argv, char* const* environment) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);  // the parent died before prctl took effect
  ::dup2(channel, 0);
  ::dup2(channel, 1);
  close_from(3);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(argv[0], argv, environment);
  ::_exit(127);
}

}  // namespace

result<void> check_helper(const std::string& path) {
  if (::access(path.c_str(), X_OK) == 0) return {};
  return error{errc_of(errno), fmt::format("the helper program {} cannot be run: {}; install it beside "
                                           "binnacle-agent, or say where it is (ipmi-helper)",
                                           path, describe(errno))};
}

result<helper_process> helper_process::start(const helper_command& what) {
  if (auto runs = check_helper(what.path); !runs) return runs.error();
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return error{errc::io, "no socket for the helper binnacle-ipmi: " + describe(errno)};
  }
  descriptor ours(ends[0]), theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);

  std::vector<char*> argv{const_cast<char*>(what.path.c_str())};
  for (const auto& a : what.arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (const auto* one : bare_environment) environment.push_back(const_cast<char*>(one));
  environment.push_back(nullptr);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(theirs.get(), parent, argv.data(), environment.data());
  if (pid < 0) return error{errc::io, "no process for the helper binnacle-ipmi: " + describe(errno)};
  ::setpgid(pid, pid);  // parent and child both do this, because nobody knows which of them runs first
  return helper_process(pid, std::move(ours));
}

helper_process::helper_process(helper_process&& other) noexcept
    : channel(std::move(other.channel)), pid_(std::exchange(other.pid_, -1)) {}

helper_process& helper_process::operator=(helper_process&& other) noexcept {
  if (this == &other) return *this;
  end();
  channel = std::move(other.channel);
  pid_ = std::exchange(other.pid_, -1);
  return *this;
}

helper_process::~helper_process() { end(); }

void helper_process::end() noexcept {
  channel = {};
  const auto limit = boot_clock::now() + last_words;
  while (!reap()) {
    if (boot_clock::now() >= limit) {
      kill();
      reap();
      return;
    }
    ::usleep(2'000);
  }
}

void helper_process::kill() noexcept {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

std::optional<std::string> helper_process::reap() {
  if (pid_ <= 0) return "gone";
  int status = 0;
  const pid_t done = ::waitpid(pid_, &status, WNOHANG);
  if (done == 0) return std::nullopt;
  const bool ours = done == pid_;
  pid_ = -1;
  if (!ours) return "gone";
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) == 127) return "status 127: it could not be run";
  return fmt::format("status {}", WEXITSTATUS(status));
}

result<descriptor> dial_helper(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) {
    return error{errc::invalid_input,
                 fmt::format("ipmi-socket {} is longer than {} bytes: use a shorter path", path,
                             sizeof to.sun_path - 1)};
  }
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  descriptor s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!s) return error{errc::io, "no socket for the helper binnacle-ipmi: " + describe(errno)};
  if (::connect(s.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    return error{
        errc_of(errno),
        fmt::format("the socket {} of the helper binnacle-ipmi cannot be reached: {}: is its container or "
                    "unit running, and the folder of the socket there for both?",
                    path, describe(errno))};
  }
  return s;
}

}  // namespace binnacle::agent
