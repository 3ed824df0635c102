#include "common/async/run_program.hpp"

#include "tests/support/net/run.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sys/socket.h>
#include <unistd.h>

namespace run_program_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using async::task;
using async::within;

async::program shell(const std::string& script) { return {"sh", {"-c", script}}; }

result<async::program_outcome> outcome_of(async::program what, std::chrono::milliseconds limit = 10s,
                                          std::size_t most = 1u << 20) {
  result<async::program_outcome> out = error{errc::internal, "it never ran"};
  support::run(
      [&](async::loop&) -> task<void> { out = co_await async::run_program(what, within(limit), most); });
  return out;
}

TEST_SUITE("common/async/run_program") {
  TEST_CASE("a program's output, complaints and status") {
    const auto done = outcome_of(shell("echo said; echo complained >&2; exit 3"));
    REQUIRE(done.has_value());
    CHECK(done->output == "said\n");
    CHECK(done->errors == "complained\n");
    CHECK(done->status == 3);
    CHECK(outcome_of(shell("kill -9 $$"))->status == 137);
  }

  TEST_CASE("it has nothing to read, our environment with what is given, and usual signals") {
    setenv("BINNACLE_TEST_A", "ours", 1);
    setenv("BINNACLE_TEST_B", "ours", 1);
    auto what = shell("cat; echo $BINNACLE_TEST_A $BINNACLE_TEST_B $BINNACLE_TEST_C");
    what.environment = {{"BINNACLE_TEST_B", "given"}, {"BINNACLE_TEST_C", "new"}};
    CHECK(outcome_of(what)->output == "ours given new\n");
    std::signal(SIGPIPE, SIG_IGN);
    CHECK(outcome_of(shell("kill -PIPE $$; echo alive"))->output == "");
  }

  TEST_CASE("it inherits no socket, also none that is not close-on-exec") {
    const int ours = ::socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(ours > 2);
    const auto there = fmt::format("test -e /proc/self/fd/{} && echo inherited || echo closed", ours);
    CHECK(outcome_of(shell(there))->output == "closed\n");
    ::close(ours);
  }

  TEST_CASE("one that complains a lot is not held up, and its complaints are cut") {
    const auto done = outcome_of(shell("head -c 300000 /dev/zero >&2; echo said"));
    REQUIRE(done.has_value());
    CHECK(done->output == "said\n");
    CHECK(done->errors.size() == 4096);
  }

  TEST_CASE("its complaints are heard while it runs, all of them") {
    const support::temp_folder folder;
    // It ends only after somebody has heard the first line.
    auto what =
        shell(fmt::format("echo open https://login >&2; while ! test -e {}; do sleep 0.02; done; "
                          "head -c 10000 /dev/zero >&2; echo in",
                          folder / "heard"));
    std::string heard;
    what.hears_errors = [&](std::string_view text) {
      heard += text;
      if (heard.find('\n') != heard.npos) folder.write("heard", "");
    };
    const auto done = outcome_of(what);
    REQUIRE(done.has_value());
    CHECK(done->output == "in\n");
    CHECK(heard.starts_with("open https://login\n"));
    CHECK(heard.size() == 19 + 10'000);
  }

  TEST_CASE("one that hangs is killed with what it started") {
    const auto done = outcome_of(shell("sleep 1000 & echo $!; sleep 1000"), 200ms);  // run() waits for 20 s
    REQUIRE(done.has_error());
    CHECK(done.error().code == errc::timeout);
  }

  TEST_CASE("one that says too much is killed") {
    const auto done = outcome_of(shell("cat /dev/zero"), 10s, 100'000);
    REQUIRE(done.has_error());
    CHECK(done.error().code == errc::overloaded);
  }

  TEST_CASE("a program that does not exist, or is none") {
    CHECK(outcome_of({"/no/such/program"}).error().code == errc::not_found);
    // If PATH has a folder that this user may not look into, the error is permission and not not_found.
    const char* const path = std::getenv("PATH");
    const std::string before = path == nullptr ? "/usr/bin:/bin" : path;
    ::setenv("PATH", "/usr/bin:/bin", 1);
    CHECK(outcome_of({"no-such-program-anywhere"}).error().code == errc::not_found);
    ::setenv("PATH", before.c_str(), 1);
    CHECK(outcome_of({"/etc/passwd"}).error().code == errc::permission);
  }
}

}  // namespace

}  // namespace run_program_test
