#include "agent/sources/bmc/helper_process.hpp"

#include "common/system/descriptor.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

namespace {

helper_command shell(std::string script) { return {"/bin/sh", {"-c", std::move(script)}}; }

/// Everything that the child says until it closes its end.
std::string all_of(const descriptor& channel) {
  std::string text;
  std::array<char, 4096> piece;
  pollfd ready{channel.get(), POLLIN, 0};
  while (::poll(&ready, 1, 10'000) == 1) {
    const auto n = ::read(channel.get(), piece.data(), piece.size());
    if (n <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

std::string end_of(helper_process& p) {
  for (int i = 0; i < 2000; ++i) {
    if (const auto how = p.reap()) return *how;
    std::this_thread::sleep_for(5ms);
  }
  return "still there";
}

TEST_SUITE_BEGIN("agent/sources/bmc/helper_process");

TEST_CASE("a child has the socket and our standard error, no other descriptor, and a bare environment") {
  ::setenv("BINNACLE_SECRET", "s3cret", 1);
  const int open_here = ::open("/dev/null", O_RDONLY);  // without close-on-exec, as some libraries leave them
  auto p = helper_process::start(shell("ls -m /proc/$$/fd; env; echo group $(ps -o pgid= -p $$) $$"));
  REQUIRE(p.has_value());
  const auto said = all_of(p->channel);
  CAPTURE(said);
  CHECK(said.starts_with("0, 1, 2\n"));
  CHECK(said.find("s3cret") == said.npos);
  CHECK(said.find("LC_ALL=C") != said.npos);
  CHECK(end_of(*p) == "status 0");
  ::close(open_here);
  ::unsetenv("BINNACLE_SECRET");
}

TEST_CASE("how it ended is told once it has, without waiting for it") {
  auto p = helper_process::start(shell("read line; exit 3"));
  REQUIRE(p.has_value());
  CHECK_FALSE(p->reap().has_value());
  REQUIRE(::write(p->channel.get(), "go\n", 3) == 3);
  CHECK(end_of(*p) == "status 3");
}

TEST_CASE("killing takes what it started along") {
  // The inner sleep keeps the socket open as long as it lives.
  auto p = helper_process::start(shell("sleep 1000 & echo up; wait"));
  REQUIRE(p.has_value());
  std::array<char, 8> up;
  pollfd ready{p->channel.get(), POLLIN, 0};
  REQUIRE(::poll(&ready, 1, 10'000) == 1);
  REQUIRE(::read(p->channel.get(), up.data(), up.size()) == 3);
  p->kill();
  CHECK(end_of(*p) == "signal 9");
  CHECK(all_of(p->channel).empty());  // the socket ends, because no process holds it any more
}

TEST_CASE("one that does not hang has time to end by itself, one that does is killed") {
  support::temp_folder folder;
  const auto file = folder / "ended";
  SUBCASE("it ends") {
    { const auto p = helper_process::start(shell("read line; echo ended > " + file)); }
    CHECK(std::filesystem::exists(file));
  }
  SUBCASE("it hangs") {
    pid_t pid = 0;
    {
      const auto p = helper_process::start(shell("echo $$; while :; do sleep 1000; done"));
      std::array<char, 16> number{};
      pollfd ready{p->channel.get(), POLLIN, 0};
      REQUIRE(::poll(&ready, 1, 10'000) == 1);
      REQUIRE(::read(p->channel.get(), number.data(), number.size() - 1) > 0);
      pid = std::atoi(number.data());
    }
    // The child may have ended too recently to be reaped already.
    int status = 0;
    if (::waitpid(pid, &status, 0) == pid) CHECK(WTERMSIG(status) == SIGKILL);
    CHECK(::kill(pid, 0) != 0);
  }
}

TEST_CASE("a stopped child is killed as well") {
  auto p = helper_process::start(shell("kill -STOP $$"));
  REQUIRE(p.has_value());
  std::this_thread::sleep_for(50ms);
  CHECK_FALSE(p->reap().has_value());
  p->kill();
  CHECK(end_of(*p) == "signal 9");
}

TEST_CASE("a program that is not there, or none, is one sentence") {
  support::temp_folder folder;
  SUBCASE("not there") {
    const auto p = helper_process::start({folder / "binnacle-ipmi", {}});
    REQUIRE_FALSE(p.has_value());
    CHECK(p.error().code == errc::not_found);
    CHECK(p.error().message.find("ipmi-helper") != std::string::npos);
  }
  SUBCASE("not a program") {
    folder.write("binnacle-ipmi", "");
    const auto p = helper_process::start({folder / "binnacle-ipmi", {}});
    REQUIRE_FALSE(p.has_value());
    CHECK(p.error().code == errc::permission);
  }
}

TEST_CASE("a sidecar's socket that is not there says so") {
  support::temp_folder folder;
  const auto s = dial_helper(folder / "ipmi.sock");
  REQUIRE_FALSE(s.has_value());
  CHECK(s.error().code == errc::not_found);
  CHECK(dial_helper(std::string(200, 'x')).error().code == errc::invalid_input);
}

TEST_SUITE_END();

}  // namespace
