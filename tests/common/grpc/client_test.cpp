// The client against servers on loopback that send prepared bytes.
#include "common/grpc/client.hpp"

#include "common/async/listener.hpp"
#include "common/async/stream.hpp"
#include "common/async/task_group.hpp"
#include "tests/common/grpc/frames.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

namespace {

using namespace binnacle;
using namespace binnacle::grpc::test;
using namespace std::chrono_literals;
using async::task;
using async::within;
using support::run;

/// A server that sends prepared texts on each connection, one each time bytes have come. After the last text
/// it closes the connection, if the test wants that.
struct scripted {
  struct visit {
    std::vector<std::string> texts;
    bool closes = false;
  };
  scripted(async::loop& on, std::vector<visit> s, std::shared_ptr<SSL_CTX> tls = nullptr)
      : group(on, logger("test", log_level::off)),
        door(async::listener::open(on, "127.0.0.1", 0, logger("test", log_level::off)).value()),
        script(std::move(s)),
        security(std::move(tls)) {
    group.spawn("serve", serve());
  }
  task<void> serve() {
    for (const visit& v : script) {
      auto socket = co_await door.accept();
      if (socket.has_error()) co_return;
      ++accepted;
      open.push_back(std::make_unique<async::stream>(std::move(*socket), security, tls::role::server));
      async::stream& peer = *open.back();
      auto shaken = co_await peer.handshake(within(5s));
      if (shaken.has_error()) continue;
      for (const std::string& text : v.texts) {
        if (!co_await heard_question(peer)) break;
        auto sent = co_await peer.write(text, within(5s));
        if (sent.has_error()) break;
      }
      if (v.closes) peer.close();
    }
  }
  /// Reads until the question that all calls of these tests ask has arrived.
  task<bool> heard_question(async::stream& peer) {
    std::string all;
    std::vector<char> room(4096);
    while (all.find("question") == std::string::npos) {
      auto got = co_await peer.read_some(room, within(5s));
      if (got.has_error() || *got == 0) co_return false;
      all.append(room.data(), *got);
    }
    co_return true;
  }
  endpoint where() const { return {"127.0.0.1", door.port()}; }

  async::task_group group;
  async::listener door;
  std::vector<visit> script;
  std::shared_ptr<SSL_CTX> security;
  std::vector<std::unique_ptr<async::stream>> open;
  int accepted = 0;
};

task<result<grpc::answer>> ask(grpc::client& c, async::deadline until) {
  grpc::call what;
  what.method = "/a.B/C";
  what.message = "question";
  co_return co_await c.ask(std::move(what), until);
}

std::string goodbye() { return frame(goaway, none, 0, big_endian(0) + big_endian(0)); }

std::shared_ptr<tls::context> server_context(support::authority& ca, const char* alpn) {
  tls::options own;
  own.pem = ca.issue_server();
  own.clients = tls::client_certificate::none;
  own.alpn = alpn;
  return tls::context::load(own).value();
}

std::shared_ptr<tls::context> client_context(const support::authority& ca) {
  tls::options own;
  own.side = tls::role::client;
  own.pem.authority = ca.certificate();
  own.alpn = "h2";
  return tls::context::load(own).value();
}

TEST_SUITE("common/grpc/client") {
  TEST_CASE("a connection is kept from call to call") {
    run([](async::loop& on) -> task<void> {
      scripted s(on, {{{greeting() + says("one"), says("two", 3), says("three", 5)}}});
      grpc::client c(s.where(), nullptr, "test/1");
      for (const std::string expected : {"one", "two", "three"}) {
        auto got = co_await ask(c, within(5s));
        REQUIRE(got.has_value());
        CHECK(got->message == expected);
      }
      CHECK(s.accepted == 1);
      s.group.cancel();
      co_await s.group.wait();
    });
  }

  TEST_CASE("a kept connection that was just closed, or takes no more, is followed by a new one") {
    for (const bool says_goodbye : {true, false}) {
      run([says_goodbye](async::loop& on) -> task<void> {
        std::vector<std::string> first{greeting() + says("one")};
        if (says_goodbye) first.push_back(goodbye());
        std::vector<scripted::visit> script{{first, true}, {{greeting() + says("two")}, false}};
        scripted s(on, script);
        grpc::client c(s.where(), nullptr, "test/1");
        auto got = co_await ask(c, within(5s));
        REQUIRE(got.has_value());
        got = co_await ask(c, within(5s));
        REQUIRE(got.has_value());
        CHECK(got->message == "two");
        CHECK(s.accepted == 2);
        s.group.cancel();
        co_await s.group.wait();
      });
    }
  }

  TEST_CASE("a new connection that is closed without an answer is not tried again") {
    run([](async::loop& on) -> task<void> {
      scripted s(on, {{{greeting()}, true}, {{greeting() + says("two")}, false}});
      grpc::client c(s.where(), nullptr, "test/1");
      auto got = co_await ask(c, within(5s));
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::disconnected);
      CHECK(s.accepted == 1);
      s.group.cancel();
      co_await s.group.wait();
    });
  }

  TEST_CASE("a server that says nothing, or pings for ever, is left at the deadline or before") {
    run([](async::loop& on) -> task<void> {
      std::string pings = greeting();
      for (int i = 0; i < 600; ++i) pings += frame(ping, none, 0, "12345678");
      scripted s(on, {{{greeting()}, false}, {{pings}, false}});
      grpc::client c(s.where(), nullptr, "test/1");
      auto got = co_await ask(c, within(50ms));
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::timeout);
      got = co_await ask(c, within(30s));
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::overloaded);
      s.group.cancel();
      co_await s.group.wait();
    });
  }

  TEST_CASE("TLS: the certificate is verified, and HTTP/2 must be agreed on") {
    const support::temp_folder dir;
    support::authority ca(dir, "ca"), stranger(dir, "stranger");
    run([&](async::loop& on) -> task<void> {
      const auto secured = server_context(ca, "h2"), old = server_context(ca, "http/1.1");
      const auto ours = client_context(ca), of_others = client_context(stranger);
      scripted good(on, {{{greeting() + says("secret")}, false}, {{}, false}}, secured->current());
      scripted no_h2(on, {{{greeting() + says("secret")}, false}}, old->current());
      const std::function<std::shared_ptr<SSL_CTX>()> trusting = [&ours] { return ours->current(); };
      const std::function<std::shared_ptr<SSL_CTX>()> elsewhere = [&of_others] {
        return of_others->current();
      };
      grpc::client c(good.where(), trusting, "test/1");
      auto got = co_await ask(c, within(5s));
      REQUIRE(got.has_value());
      CHECK(got->message == "secret");
      grpc::client wary(good.where(), elsewhere, "test/1");
      got = co_await ask(wary, within(5s));
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::permission);
      grpc::client other(no_h2.where(), trusting, "test/1");
      got = co_await ask(other, within(5s));
      REQUIRE(got.has_error());
      CHECK(got.error().message.find("agrees on no HTTP/2") != std::string::npos);
      for (scripted* s : {&good, &no_h2}) {
        s->group.cancel();
        co_await s->group.wait();
      }
    });
  }
}

}  // namespace
