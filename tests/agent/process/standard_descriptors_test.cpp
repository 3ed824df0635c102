#include "agent/process/standard_descriptors.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace standard_descriptors_test {

// Checklist: fd 0, closed stdin. Runs in a child, because doctest prints to these descriptors.
TEST_SUITE_BEGIN("agent/process/standard_descriptors");

TEST_CASE("closed standard descriptors are open after it, so that no file of ours gets their numbers") {
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(0);
    ::close(2);
    binnacle::agent::open_standard_descriptors();
    const bool open = ::fcntl(0, F_GETFD) >= 0 && ::fcntl(1, F_GETFD) >= 0 && ::fcntl(2, F_GETFD) >= 0;
    char byte;
    const bool empty = ::read(0, &byte, 1) == 0;
    ::_exit(open && empty && ::open("/dev/null", O_RDONLY) > 2 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_SUITE_END();

}  // namespace standard_descriptors_test
