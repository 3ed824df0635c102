#include "aggregator/kube/client/client.hpp"

#include "aggregator/kube/objects/follow.hpp"
#include "aggregator/kube/reviews/reviewer.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/net/served.hpp"
#include "tests/support/temp_folder.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <filesystem>

namespace kube_client_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using async::task;
using async::within;

const logger quiet("test", log_level::off);

/// A server that accepts one token and records what it got. Reviews get the prepared answer.
struct api {
  std::string wanted = "good";
  std::atomic<int> calls{0};
  std::atomic<int> failures{0};  // so many reviews get a 503 first
  support::served server{routes()};

  http::router routes() {
    http::router r;
    r.add("GET", "/prefix/api/v1/nodes", [this](const http::request& q, std::string_view) {
      ++calls;
      const std::string* who = q.header("authorization");
      if (who == nullptr || *who != "Bearer " + wanted) return http::response::json("{}", 401);
      return http::response::json("{\"items\":[]}");
    });
    r.add(
        "POST", "/prefix/apis/authentication.k8s.io/v1/tokenreviews",
        [this](const http::request&, std::string_view) {
          ++calls;
          if (failures > 0) {
            --failures;
            return http::response::json("{}", 503);
          }
          return http::response::json(R"({"status":{"authenticated":true,"user":{"username":"u"}}})", 201);
        },
        1u << 20);
    return r;
  }
  kube::access where() const {
    kube::access a;
    a.host = "127.0.0.1";
    a.port = server.port();
    a.secure = false;
    a.path = "/prefix";
    return a;
  }
};

/// A plug-in that adds a line to `folder`/runs, sleeps for `seconds` and prints the token $TOKEN.
kube::exec_plugin slow_plugin(support::temp_folder& folder, const std::string& seconds) {
  folder.write("plugin", "#!/bin/sh\necho run >> " + folder / "runs" + "\nsleep " + seconds +
                             "\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
                             "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"'$TOKEN'\"}}'\n");
  std::filesystem::permissions(folder / "plugin", std::filesystem::perms::owner_all);
  return {"client.authentication.k8s.io/v1", folder / "plugin", {}, {{"TOKEN", "good"}}};
}

http::call nodes() {
  http::call out;
  out.target = "/api/v1/nodes";
  return out;
}

task<unsigned> status_of(kube::client& c) {
  http::call what = nodes();
  auto got = co_await c.ask(std::move(what), within(10s));
  co_return got.has_error() ? 0u : got->status;
}

TEST_SUITE("aggregator/kube/client") {
  TEST_CASE("a token that the server refuses is read anew, once") {
    api a;
    support::temp_folder folder;
    folder.write("token", "old\n");
    kube::access to = a.where();
    to.token_file = folder / "token";
    support::run([&](async::loop&) -> task<void> {
      auto c = kube::client::open(to, quiet).value();
      unsigned status = co_await status_of(*c);
      CHECK(status == 401);
      CHECK(a.calls == 2);
      folder.write("token", "good\n");
      status = co_await status_of(*c);
      CHECK(status == 200);
      CHECK(c->stats().refused >= 2);
      folder.remove("token");
      status = co_await status_of(*c);
      CHECK(status == 200);
    });
  }

  TEST_CASE("no calls are made past a proxy") {
    kube::access to;
    to.host = "127.0.0.1";
    to.secure = false;
    CHECK(kube::client::open(to, quiet).has_value());
    to.proxy = "http://proxy:3128";
    CHECK(kube::client::open(to, quiet).error().code == errc::unsupported);
  }

  TEST_CASE("a follower counts what it does not read of objects") {
    http::router routes;
    routes.add("GET", "/api/v1/things", [](const http::request&, std::string_view) {
      std::string labels;
      for (int i = 0; i < 600; ++i) labels += fmt::format("{}\"l{}\":\"\"", i == 0 ? "" : ",", i);
      return http::response::json(R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"x",)"
                                  R"("resourceVersion":"1","labels":{)" +
                                  labels + "}}}]}");
    });
    support::served server(std::move(routes));
    kube::access to;
    to.host = "127.0.0.1";
    to.port = server.port();
    to.secure = false;
    struct nobody final : kube::watcher {
      void changed(const kube::object_key&, const boost::json::object&) override {}
      void gone(const kube::object_key&) override {}
      void synced() override {}
    } ignore;
    support::run([&](async::loop&) -> task<void> {
      auto c = kube::client::open(to, quiet).value();
      kube::reflector machine({.path = "/api/v1/things", .what = "things"}, ignore, 7);
      const bool read = co_await kube::read_once(c, machine);
      CHECK(read);
      CHECK(c->stats().members_left_out == 88);
    });
  }

  TEST_CASE("an exec plug-in is run once for many calls, and again when its credential was refused") {
    api a;
    support::temp_folder folder;
    kube::access to = a.where();
    to.plugin = slow_plugin(folder, "0.2");
    support::run([&](async::loop&) -> task<void> {
      using namespace boost::asio::experimental::awaitable_operators;
      auto c = kube::client::open(to, quiet).value();
      const auto [first, second, third] = co_await (status_of(*c) && status_of(*c) && status_of(*c));
      CHECK(first == 200);
      CHECK(second == 200);
      CHECK(third == 200);
    });
    CHECK(std::filesystem::file_size(folder / "runs") == 4);

    to.plugin->environment = {{"TOKEN", "bad"}};
    support::run([&](async::loop&) -> task<void> {
      auto c = kube::client::open(to, quiet).value();
      for (int i = 0; i < 3; ++i) {
        const unsigned status = co_await status_of(*c);
        CHECK(status == 401);
      }
    });
    CHECK(std::filesystem::file_size(folder / "runs") == 8);  // not once a call
  }

  TEST_CASE("an exec plug-in that takes longer than a caller has is not begun again for the next one") {
    api a;
    support::temp_folder folder;
    kube::access to = a.where();
    to.plugin = slow_plugin(folder, "0.3");
    support::run([&](async::loop&) -> task<void> {
      auto c = kube::client::open(to, quiet).value();
      http::call hurried = nodes();
      // This call ends before its answer; its plug-in must still run to its end.
      (void)co_await c->ask(std::move(hurried), within(10ms));
      const unsigned status = co_await status_of(*c);
      CHECK(status == 200);
    });
    CHECK(std::filesystem::file_size(folder / "runs") == 4);
  }

  TEST_CASE("a caller waits for an exec plug-in no longer than until its own deadline") {
    api a;
    support::temp_folder folder;
    kube::access to = a.where();
    to.plugin = slow_plugin(folder, "0; while [ ! -e " + folder / "go" + " ]; do sleep 0.05; done");
    support::run([&](async::loop&) -> task<void> {
      auto c = kube::client::open(to, quiet).value();
      for (int i = 0; i < 2; ++i) {  // the first call starts the plug-in, the second finds it running
        http::call hurried = nodes();
        const auto got = co_await c->ask(std::move(hurried), within(50ms));
        REQUIRE(got.has_error());
        CHECK(got.error().code == errc::timeout);
        CHECK(got.error().message.find("has not ended in time") != std::string::npos);
      }
      CHECK(a.calls == 0);
      folder.write("go", "");
      const unsigned status = co_await status_of(*c);
      CHECK(status == 200);
    });
    CHECK(std::filesystem::file_size(folder / "runs") == 4);
  }

  TEST_CASE("a client may go away while its exec plug-in runs") {
    api a;
    support::temp_folder folder;
    kube::access to = a.where();
    to.plugin = slow_plugin(folder, "60");
    support::run([&](async::loop&) -> task<void> {
      auto c = kube::client::open(to, quiet).value();
      http::call hurried = nodes();
      (void)co_await c->ask(std::move(hurried), within(50ms));
      c.reset();
    });
  }

  TEST_CASE("a verdict is asked for again while the server has trouble, and remembered") {
    api a;
    a.failures = 1;
    support::run([&](async::loop&) -> task<void> {
      auto c = kube::client::open(a.where(), quiet).value();
      kube::reviewer r(c);
      for (int i = 0; i < 3; ++i) {
        std::vector<std::string> none;
        auto v = co_await r.token("abc", none, within(10s));
        REQUIRE(v.has_value());
        CHECK(v->who.name == "u");
      }
      CHECK(a.calls == 2);
      CHECK(r.stats().remembered == 2);
      a.failures = 100;
      std::vector<std::string> none;
      auto v = co_await r.token("other", none, within(700ms));
      REQUIRE(v.has_error());
      CHECK(v.error().code == errc::overloaded);
    });
  }
}

}  // namespace

}  // namespace kube_client_test
