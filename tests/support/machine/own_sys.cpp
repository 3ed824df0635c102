#include "tests/support/machine/own_sys.hpp"

#include <cstdio>
#include <sched.h>
#include <stdexcept>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace binnacle::support {
namespace {

constexpr int no_namespace = 126;
constexpr int threw = 127;

bool see(const std::string& sys) {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(sys.c_str(), "/sys", nullptr, MS_BIND, nullptr) == 0;
}

}  // namespace

std::optional<int> run_with_sys(const std::string& sys, const std::function<int()>& body) {
  const auto child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    if (!see(sys)) ::_exit(no_namespace);
    int status = threw;
    try {
      status = body();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    ::_exit(status);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == threw)
    throw std::runtime_error("what ran with a /sys of its own did not end in order");
  if (WEXITSTATUS(status) == no_namespace) return std::nullopt;
  return WEXITSTATUS(status);
}

}  // namespace binnacle::support
