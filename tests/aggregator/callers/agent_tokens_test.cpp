#include "aggregator/callers/agent_tokens.hpp"

#include "common/async/timers.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/net/served.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <stdexcept>

namespace agent_tokens_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

/// How long a token with these claims is valid at this wall clock. The comments below say which claims each
/// text holds. Head and signature of a token are not read.
duration left(const std::string& claims, std::chrono::seconds wall) {
  return callers::time_left("head." + claims + ".signature", std::chrono::system_clock::time_point(wall));
}
const std::string ten_minutes = "eyJleHAiOjEwNjAwLCJpYXQiOjEwMDAwfQ";  // exp 10600, iat 10000
const std::string undated = "eyJleHAiOjEwNjAwfQ";                      // exp 10600
const std::string endless =  // exp 9223372036854775807, iat -9223372036854775808
    "eyJleHAiOjkyMjMzNzIwMzY4NTQ3NzU4MDcsImlhdCI6LTkyMjMzNzIwMzY4NTQ3NzU4MDh9";

/// An API server that vouches for every token.
http::router vouching() {
  http::router r;
  r.add(
      "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
      [](const http::request&, std::string_view) {
        return http::response::json(
            R"({"status":{"authenticated":true,"audiences":["aggregator"],"user":{"username":"u"}}})", 201);
      },
      1u << 20);
  return r;
}

TEST_SUITE("aggregator/callers/agent_tokens") {
  TEST_CASE("tokens are still checked after many callbacks have thrown") {
    support::served server(vouching());
    kube::access to;
    to.host = "127.0.0.1";
    to.port = server.port();
    to.secure = false;
    const logger quiet("test", log_level::off);
    support::run([&](async::loop& on) -> async::task<void> {
      auto api = kube::client::open(std::move(to), quiet).value();
      callers::agent_tokens tokens(on, std::move(api), "aggregator", quiet);
      async::event told(on);
      long failed = 0;
      for (long i = 0; i < callers::agent_tokens::most_at_once; ++i) {
        tokens.ask(fmt::format("token {}", i), [&](const result<callers::agent_tokens::answer>&) {
          ++failed;
          told.notify();
          throw std::runtime_error("no memory, say");
        });
      }
      while (failed < callers::agent_tokens::most_at_once) {
        const bool woken = co_await told.wait(async::within(15s));
        REQUIRE(woken);
      }
      bool genuine = false;
      tokens.ask("one more", [&](const result<callers::agent_tokens::answer>& said) {
        genuine = said.has_value() && said->review.authenticated;
        told.notify();
      });
      const bool woken = co_await told.wait(async::within(15s));
      CHECK(woken);
      CHECK(genuine);
    });
  }

  TEST_CASE("if our clock is right, a token lasts until its end") {
    CHECK(left(ten_minutes, 10'000s) == 10min);
    CHECK(left(ten_minutes, 10'500s) == 100s);
    CHECK(left(undated, 10'000s) == 10min);
    CHECK(left("e30", 10'000s) == 10min);  // {}
    CHECK(left("!", 10'000s) == 10min);
  }

  TEST_CASE("a clock that is an hour behind stretches no token, one that is ahead makes it ask again soon") {
    CHECK(left(ten_minutes, 10'000s - 3600s) == 10min);
    CHECK(left(ten_minutes, 10'000s + 3600s) == 1min);
  }

  TEST_CASE("whatever a token says, it lasts between a minute and a day") {
    CHECK(left(endless, 10'000s) == 24h);
    CHECK(left(undated, 10'000s - 48h) == 24h);
  }
}

}  // namespace

}  // namespace agent_tokens_test
