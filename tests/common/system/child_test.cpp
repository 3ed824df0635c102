#include "common/system/child.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <sys/ptrace.h>
#include <thread>

namespace child_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

/// For a process that this test has forked: starts a program, tells its number, and destroys its object when
/// it may. Its exit status is how many killed programs it leaves behind.
[[noreturn]] void run_a_child(const pipe_ends& tells, const pipe_ends& may) {
  const pid_t program = ::fork();
  if (program == 0) {
    ::setpgid(0, 0);
    const pid_t self = ::getpid();
    if (::write(tells.fd[1], &self, sizeof self) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  char go = 0;
  if (program < 0 || ::read(may.fd[0], &go, 1) != 1) ::_exit(100);
  { const child running(program); }
  ::_exit(child::lingering());
}

TEST_SUITE("common/system/child") {
  // Nobody but its tracer sees the end of a process that is traced. So a killed program that is traced by
  // this test does not end for the process that has started it, as if the kernel were busy for it.
  TEST_CASE("a killed program that does not end holds up nobody") {
    pipe_ends tells, may;
    REQUIRE(tells.fd[0] >= 0);
    REQUIRE(may.fd[0] >= 0);
    const pid_t parent = ::fork();
    REQUIRE(parent >= 0);
    if (parent == 0) run_a_child(tells, may);
    tells.close_end(1);
    pid_t program = 0;
    REQUIRE(::read(tells.fd[0], &program, sizeof program) > 0);
    const bool is_traced = ::ptrace(PTRACE_SEIZE, program, nullptr, nullptr) == 0;
    REQUIRE(::write(may.fd[1], "x", 1) == 1);

    int status = -1;
    pid_t ended = 0;
    for (const auto until = std::chrono::steady_clock::now() + 20s;
         ended == 0 && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(5ms))
      ended = ::waitpid(parent, &status, WNOHANG);
    if (is_traced) {
      CHECK(ended == parent);
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 1);
      CHECK(::waitpid(program, nullptr, __WALL) == program);
    } else {
      MESSAGE("nothing was tested: no process may be traced here");
    }
    if (ended == 0) ::waitpid(parent, nullptr, 0);
  }
}

}  // namespace

}  // namespace child_test
