#include "common/async/run_program.hpp"

#include "common/async/timeout.hpp"
#include "common/system/child.hpp"
#include "common/system/os_error.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace binnacle::async {
namespace {

namespace asio = boost::asio;
using descriptor = asio::posix::basic_stream_descriptor<executor>;

constexpr std::size_t most_errors = 4096;
constexpr int most_lingering = 4;  // each holds a thread and a process

std::vector<std::string> environment_of(const program& what) {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry(*e);
    const auto name = entry.substr(0, entry.find('='));
    bool replaced = false;
    for (const auto& given : what.environment) replaced = replaced || given.first == name;
    if (!replaced) out.emplace_back(entry);
  }
  for (const auto& [name, value] : what.environment) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

result<pid_t> start(const program& what, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  // Asio's sockets are not close-on-exec. Source: posix_spawn_file_actions_addclosefrom_np(3), glibc 2.34.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);  // because this process ignores it
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = what.arguments;
  words.insert(words.begin(), what.path);
  std::vector<std::string> variables = environment_of(what);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, what.path.c_str(), &actions, &attributes, pointers(words).data(),
                                  pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return pid;
  return error{failed == ENOENT   ? errc::not_found
               : failed == EACCES ? errc::permission
                                  : errc::io,
               fmt::format("{} cannot be run: {}", what.path, describe(failed))};
}

/// Reads to the end. Of more than `most` bytes the rest is dropped. If a process group is given, more than
/// `most` bytes are an error instead, and the group is killed. `hears`, if there is one, is given all bytes.
task<result<void>> read_to_end(descriptor& from, std::string& out, std::size_t most, pid_t group,
                               const std::function<void(std::string_view)>* hears) {
  std::array<char, 4096> buffer;
  for (;;) {
    auto [ec, n] = co_await from.async_read_some(asio::buffer(buffer), use_task);
    if (ec == asio::error::eof) co_return result<void>();
    if (ec) co_return error{errc::io, ec.message()};
    if (group != 0 && out.size() + n > most) {
      kill(-group, SIGKILL);  // this ends the other pipe, too
      co_return error{errc::overloaded, fmt::format("it says more than {} bytes and was killed", most)};
    }
    out.append(buffer.data(), std::min(n, most - std::min(most, out.size())));
    if (hears != nullptr && *hears) (*hears)(std::string_view(buffer.data(), n));
  }
}

/// Waits until the process has ended. Source: pidfd_open(2), Linux 5.3.
task<result<void>> wait_for_end(descriptor& process) {
  auto [ec] = co_await process.async_wait(descriptor::wait_read, use_task);
  if (ec) co_return error{errc::io, ec.message()};
  co_return result<void>();
}

task<result<void>> all_of(const program& what, descriptor& output, descriptor& errors, descriptor& process,
                          program_outcome& out, std::size_t most, pid_t group) {
  using namespace boost::asio::experimental::awaitable_operators;
  // Both pipes are read at once: a program that fills one of them while we read only the other would never
  // end.
  auto [said, complained] = co_await (read_to_end(output, out.output, most, group, nullptr) &&
                                      read_to_end(errors, out.errors, most_errors, 0, &what.hears_errors));
  if (said.has_error()) co_return said.error();
  if (complained.has_error()) co_return complained.error();
  co_return co_await wait_for_end(process);
}

}  // namespace

task<result<program_outcome>> run_program(program what, deadline until, std::size_t most_output) {
  const auto ex = co_await asio::this_coro::executor;
  if (const int some = child::lingering(); some >= most_lingering)
    co_return error{errc::overloaded,
                    fmt::format("{} is not run: {} programs that were killed have not ended yet (is a file "
                                "system away that they use?)",
                                what.path, some)};
  pipe_ends output, errors;
  if (output.fd[0] < 0 || errors.fd[0] < 0)
    co_return error{errc::io, fmt::format("{} cannot be run: no more file descriptors", what.path)};
  const auto pid = start(what, output.fd[1], errors.fd[1]);
  output.close_end(1);
  errors.close_end(1);
  if (pid.has_error()) co_return pid.error();
  child running(*pid);
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, *pid, 0));
  if (handle < 0) co_return error{errc::unsupported, "this kernel has no pidfd_open (Linux 5.3)"};
  descriptor from_output(ex, output.release(0));
  descriptor from_errors(ex, errors.release(0));
  descriptor process(ex, handle);

  program_outcome out;
  auto done = co_await with_timeout(all_of(what, from_output, from_errors, process, out, most_output, *pid),
                                    until, what.path);
  if (done.has_error())
    co_return error{done.error().code, done.error().code == errc::timeout
                                           ? done.error().message + " and was killed"
                                           : fmt::format("{}: {}", what.path, done.error().message)};
  const int status = running.reap();
  out.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  co_return out;
}

}  // namespace binnacle::async
