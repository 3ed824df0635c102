#include "common/http/client/client.hpp"

#include "common/async/listener.hpp"
#include "common/async/stream.hpp"
#include "common/async/task_group.hpp"
#include "tests/common/http/server_routes.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/run.hpp"

namespace http_client_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using async::task;
using async::within;
using support::run;
using support::served;
using support::test_routes;

http::server_address at(std::uint16_t port) { return {"127.0.0.1", port, "localhost"}; }

/// A server that sends one prepared text on each connection, once the first bytes of a request have arrived.
struct scripted {
  scripted(async::loop& on, std::vector<std::string> texts)
      : group(on, logger("test", log_level::off)),
        door(async::listener::open(on, "127.0.0.1", 0, logger("test", log_level::off)).value()),
        script(std::move(texts)) {
    group.spawn("serve", serve());
  }
  task<void> serve() {
    for (const std::string& text : script) {
      auto socket = co_await door.accept();
      if (socket.has_error()) co_return;
      open.push_back(std::make_unique<async::stream>(std::move(*socket), nullptr, tls::role::server));
      ++accepted;
      if (text.empty()) {  // closes without sending anything
        auto ready = co_await open.back()->wait_readable(within(5s));
        open.back()->close();
        continue;
      }
      auto ready = co_await open.back()->wait_readable(within(5s));
      auto sent = co_await open.back()->write(text, within(5s));
    }
  }
  async::task_group group;
  async::listener door;
  std::vector<std::string> script;
  std::vector<std::unique_ptr<async::stream>> open;
  int accepted = 0;
};

http::server_options secured_by(support::authority& ca) {
  tls::options own;
  own.pem = ca.issue_server();
  http::server_options out;
  out.tls = tls::context::load(own).value();
  return out;
}

/// A context with the certificate that a client of this name shows.
std::shared_ptr<tls::context> identity(support::authority& ca, const char* name) {
  tls::options own;
  own.side = tls::role::client;
  own.pem = ca.issue(name, {.common_name = name});
  own.alpn = "http/1.1";
  return tls::context::load(own).value();
}

TEST_SUITE("common/http/client/client") {
  TEST_CASE("a connection is used call after call, and calls at one time have one each") {
    served s(test_routes());
    run([&s](async::loop&) -> task<void> {
      http::client c(at(s.port()), nullptr, "test/1");
      for (int i = 0; i < 3; ++i) {
        http::call echo{"POST", "/echo", {}, "hello " + std::to_string(i)};
        auto got = co_await c.ask(std::move(echo), within(5s));
        REQUIRE(got.has_value());
        CHECK(got->status == 200);
        CHECK(got->body == "hello " + std::to_string(i));
      }
      CHECK(s.counters().accepted == 1);
    });
  }

  TEST_CASE("an answer of any status is an answer") {
    served s(test_routes());
    run([&s](async::loop&) -> task<void> {
      http::client c(at(s.port()), nullptr, "test/1");
      http::call nowhere{"GET", "/nowhere"};
      auto got = co_await c.ask(std::move(nowhere), within(5s));
      REQUIRE(got.has_value());
      CHECK(got->status == 404);
    });
  }

  TEST_CASE("a large answer comes whole, and one beyond its bound is refused") {
    served s(test_routes());
    run([&s](async::loop&) -> task<void> {
      http::client c(at(s.port()), nullptr, "test/1");
      http::call large{"GET", "/large?pieces=20&size=100000"};
      auto got = co_await c.ask(large, within(5s));
      REQUIRE(got.has_value());
      CHECK(got->body.size() == 2'000'000);
      large.most_bytes = 1'999'999;
      got = co_await c.ask(large, within(5s));
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::overloaded);
    });
  }

  TEST_CASE("the body of a 200 may be taken piece by piece, any other comes whole") {
    served s(test_routes());
    run([&s](async::loop&) -> task<void> {
      http::client c(at(s.port()), nullptr, "test/1");
      std::size_t bytes = 0, largest = 0;
      http::call large{"GET", "/large?pieces=20&size=100000"};
      large.take = [&](std::string_view piece) {
        bytes += piece.size();
        largest = std::max(largest, piece.size());
      };
      auto got = co_await c.ask(large, within(5s));
      REQUIRE(got.has_value());
      CHECK(got->body.empty());
      CHECK(bytes == 2'000'000);
      CHECK(largest <= (64u << 10));
      large.target = "/nowhere";
      got = co_await c.ask(large, within(5s));
      REQUIRE(got.has_value());
      CHECK_FALSE(got->body.empty());
      CHECK(bytes == 2'000'000);
    });
  }

  TEST_CASE("TLS, with the client's certificate") {
    const support::temp_folder dir;
    support::authority ca(dir, "ca");
    served s(test_routes(), secured_by(ca));
    const auto context = identity(ca, "me");
    run([&](async::loop&) -> task<void> {
      http::client c(
          at(s.port()), [context] { return context->current(); }, "test/1");
      http::call who{"GET", "/who"};
      auto got = co_await c.ask(who, within(5s));
      REQUIRE(got.has_value());
      CHECK(got->body == "me");
      http::server_address other = at(s.port());
      other.server_name = "elsewhere";
      http::client wrong(
          other, [context] { return context->current(); }, "test/1");
      got = co_await wrong.ask(who, within(5s));
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::permission);
    });
  }

  TEST_CASE("who gets another certificate shows it from the next call on") {
    const support::temp_folder dir;
    support::authority ca(dir, "ca");
    served s(test_routes(), secured_by(ca));
    std::shared_ptr<tls::context> context;
    run([&](async::loop&) -> task<void> {
      http::client c(
          at(s.port()), [&context] { return context->current(); }, "test/1");
      const http::call who{"GET", "/who"};
      for (const char* name : {"before", "after"}) {
        context = identity(ca, name);
        for (int i = 0; i < 2; ++i) {
          auto got = co_await c.ask(who, within(15s));
          REQUIRE(got.has_value());
          CHECK(got->body == name);
        }
      }
      CHECK(s.counters().accepted == 2);
    });
  }

  TEST_CASE("a kept connection that the server closed is replaced, for a call that may be repeated") {
    const std::string fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for (const bool repeatable : {true, false}) {
      CAPTURE(repeatable);
      run([&](async::loop& on) -> task<void> {
        scripted peer(on, {fine, fine});
        http::client c(at(peer.door.port()), nullptr, "test/1");
        http::call get{"GET", "/"};
        get.repeatable = repeatable;
        auto first = co_await c.ask(get, within(5s));
        REQUIRE(first.has_value());
        peer.open.front()->close();
        auto second = co_await c.ask(get, within(5s));
        CHECK(second.has_value() == repeatable);
        if (second.has_error()) CHECK(second.error().code == errc::disconnected);
        peer.door.close();
        peer.group.cancel();
        const bool ended = co_await peer.group.wait(within(5s));
        CHECK(ended);
      });
    }
  }

  TEST_CASE("a new connection that is closed without an answer is not tried again") {
    run([](async::loop& on) -> task<void> {
      scripted peer(on, {"", ""});
      http::client c(at(peer.door.port()), nullptr, "test/1");
      http::call get{"GET", "/"};
      auto got = co_await c.ask(get, within(5s));
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::disconnected);
      CHECK(peer.accepted == 1);
      peer.door.close();
      peer.group.cancel();
      const bool ended = co_await peer.group.wait(within(5s));
      CHECK(ended);
    });
  }

  TEST_CASE("a stream gives its pieces as they come, and a silent one ends at its deadline") {
    run([](async::loop& on) -> task<void> {
      scripted peer(on, {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n"});
      http::client c(at(peer.door.port()), nullptr, "test/1");
      http::call watch{"GET", "/watch"};
      auto opened = co_await c.open(watch, within(5s));
      REQUIRE(opened.has_value());
      CHECK(opened->head().status == 200);
      auto piece = co_await opened->next(within(5s));
      REQUIRE(piece.has_value());
      CHECK(*piece == "one\n");
      piece = co_await opened->next(within(20ms));
      REQUIRE(piece.has_error());
      CHECK(piece.error().code == errc::timeout);
      auto sent = co_await peer.open.front()->write("4\r\ntwo\n\r\n0\r\n\r\n", within(5s));
      REQUIRE(sent.has_value());
      piece = co_await opened->next(within(5s));
      REQUIRE(piece.has_value());
      CHECK(*piece == "two\n");
      piece = co_await opened->next(within(5s));
      REQUIRE(piece.has_value());
      CHECK(piece->empty());
      peer.door.close();
      peer.group.cancel();
      const bool ended = co_await peer.group.wait(within(5s));
      CHECK(ended);
    });
  }
}

}  // namespace

}  // namespace http_client_test
