#include "cli/bridge/forward.hpp"

#include "cli/bridge/replicas.hpp"
#include "common/system/child.hpp"
#include "common/system/os_error.hpp"
#include "common/text/text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace binnacle::cli::bridge {
namespace {

constexpr std::size_t most_line = 4096;  // how many bytes of a line of its output are kept

/// Starts a child that ends when its parent ends; posix_spawn(3) cannot ask for that. Other threads run here,
/// so between fork(2) and exec only functions are called that are safe in a signal handler.
result<pid_t> start(std::vector<std::string> words, int output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return error{errc::io, fmt::format("{} cannot be run: {}", words[0], describe(errno))};
  if (pid > 0) {
    setpgid(pid, pid);
    return pid;
  }
  setpgid(0, 0);  // Ctrl-C reaches only this command, which then ends the child
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, 0);
  dup2(output, 1);
  dup2(output, 2);
  close_range(3, ~0U, 0);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

async::task<result<std::string>> forward(std::vector<std::string> words,
                                         std::function<void(std::uint16_t)> opened) {
  const auto executor = co_await boost::asio::this_coro::executor;
  pipe_ends output;
  if (output.fd[0] < 0) co_return error{errc::io, "kubectl cannot be run: no more file descriptors"};
  const auto pid = start(std::move(words), output.fd[1]);
  output.close_end(1);
  if (pid.has_error()) co_return pid.error();
  const child running(*pid);
  boost::asio::posix::basic_stream_descriptor<async::executor> from(executor, output.release(0));
  std::array<char, 4096> buffer;
  std::string line, last;
  for (;;) {
    const auto [ec, n] = co_await from.async_read_some(boost::asio::buffer(buffer), async::use_task);
    if (ec) break;
    for (const char c : std::string_view(buffer.data(), n)) {
      if (c != '\n') {
        if (line.size() < most_line) line += c;
        continue;
      }
      if (const auto port = forwarded_port(line)) {
        opened(*port);
      } else if (!line.empty() && !line.starts_with("Handling connection")) {
        last = line;
      }
      line.clear();
    }
  }
  co_return std::string(trimmed(line.empty() ? last : line));
}

}  // namespace binnacle::cli::bridge
