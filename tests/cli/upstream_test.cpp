// Tests which replica's answer a page gets.
#include "cli/upstream.hpp"

#include "cli/json.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/net/served.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

namespace upstream_test {

using namespace binnacle;
using namespace binnacle::cli;
using namespace std::chrono_literals;

/// A replica's ops port that gives the same answer to every request.
struct replica {
  std::function<http::response()> say;
  std::atomic<int> asked{0};
  support::served face{routes()};

  explicit replica(std::function<http::response()> s) : say(std::move(s)) {}
  explicit replica(http::response always) : say([always] { return always; }) {}
  http::router routes() {
    http::router r;
    r.add_prefix("/api", [this](const http::request&, std::string_view) {
      ++asked;
      return say();
    });
    return r;
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", face.port()); }
};

http::response named(const char* name) {
  return http::response::json(fmt::format(R"({{"name":"{}"}})", name));
}

constexpr const char* nobody = "http://127.0.0.1:1";

void with(const std::vector<std::string>& urls, const std::function<async::task<void>(upstream&)>& body) {
  connection to;
  to.aggregators = urls;
  // `replicas` is a local variable, so that its connections end before the loop does.
  const auto work = [&](async::loop&) -> async::task<void> {
    upstream replicas = upstream::open(to).value();
    auto asked = body(replicas);
    co_await std::move(asked);
  };
  support::run(work, 120s);
}

TEST_SUITE("cli/upstream") {
  TEST_CASE(
      "a replica that is busy, stops or does not know the node yet does not keep the other's answer away") {
    for (const unsigned status : {401u, 403u, 404u, 429u, 500u, 503u}) {
      CAPTURE(status);
      replica first(http::response::failure(status, "not here"));
      replica second(named("second"));
      with({first.url(), second.url()}, [&](upstream& u) -> async::task<void> {
        auto t = co_await u.ask_one("/api/v1/nodes");
        REQUIRE(t.said.has_value());
        CHECK(text(t.said->json, "name") == "second");
        CHECK(t.url == second.url());
        CHECK(first.asked == 1);
        // The replica that had the answer is now asked first.
        t = co_await u.ask_one("/api/v1/nodes");
        CHECK(first.asked == 1);
        CHECK(second.asked == 2);
      });
    }
  }

  TEST_CASE("a wrong question is wrong everywhere: no other replica is asked") {
    replica first(http::response::failure(400, "no such parameter"));
    replica second(named("second"));
    with({first.url(), second.url()}, [&](upstream& u) -> async::task<void> {
      const auto t = co_await u.ask_one("/api/v1/nodes?x=1");
      REQUIRE(t.said.has_error());
      CHECK(t.said.error().message.find("no such parameter") != std::string::npos);
      CHECK(second.asked == 0);
    });
  }

  TEST_CASE("when no replica has the answer, a refusal is told rather than that another one is away") {
    replica second(http::response::failure(404, "no agent named 'x' has connected"));
    with({nobody, second.url()}, [&](upstream& u) -> async::task<void> {
      const auto t = co_await u.ask_one("/api/v1/nodes/x");
      REQUIRE(t.said.has_error());
      CHECK(t.said.error().message.find("no agent named 'x'") != std::string::npos);
    });
    with({nobody, nobody}, [&](upstream& u) -> async::task<void> {
      const auto t = co_await u.ask_one("/api/v1/nodes/x");
      REQUIRE(t.said.has_error());
      CHECK(t.said.error().message.find("cannot reach") != std::string::npos);
    });
  }

  TEST_CASE("replicas are asked side by side, and told in the order they were given") {
    replica third(named("third"));
    // The first replica answers only after the third was asked. If the replicas were asked one after the
    // other, it would not answer in time.
    replica first([&] {
      for (const auto end = std::chrono::steady_clock::now() + 60s;
           third.asked == 0 && std::chrono::steady_clock::now() < end;)
        std::this_thread::sleep_for(1ms);
      return named("first");
    });
    with({first.url(), nobody, third.url()}, [&](upstream& u) -> async::task<void> {
      const auto all = co_await u.ask_each("/api/v1/status");
      REQUIRE(all.size() == 3);
      REQUIRE(all[0].said.has_value());
      CHECK(text(all[0].said->json, "name") == "first");
      CHECK(all[1].said.has_error());
      REQUIRE(all[2].said.has_value());
      CHECK(text(all[2].said->json, "name") == "third");
    });
  }
}

}  // namespace upstream_test
