#include "common/async/stream.hpp"

#include "common/async/listener.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/system/read_file.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/run.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace stream_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using async::task;
using async::within;

const logger quiet("test", log_level::off);

struct both_ends {
  explicit both_ends(bool tls) {
    if (!tls) return;
    support::authority ca(dir, "ca");
    tls::options server{tls::role::server, ca.issue_server(), tls::client_certificate::required, true,
                        "binnacle/1"};
    support::wanted node;
    node.common_name = "agent";
    node.dns_names = {"n1"};
    tls::options client{tls::role::client, ca.issue("n1", node), tls::client_certificate::none, true,
                        "binnacle/1"};
    server_tls = tls::context::load(server).value();
    client_tls = tls::context::load(client).value();
  }
  std::shared_ptr<SSL_CTX> server() const { return server_tls ? server_tls->current() : nullptr; }
  std::shared_ptr<SSL_CTX> client() const { return client_tls ? client_tls->current() : nullptr; }

  support::temp_folder dir;
  std::unique_ptr<tls::context> server_tls, client_tls;
};

/// Sends back what it receives until the peer ends the connection.
task<void> echo_once(async::listener& door, std::shared_ptr<SSL_CTX> tls, bool& saw_end) {
  auto socket = co_await door.accept();
  async::stream peer(std::move(*socket), tls, tls::role::server);
  auto shaken = co_await peer.handshake(within(5s));
  REQUIRE(shaken.has_value());
  std::string room(100'000, '\0');
  for (;;) {
    auto got = co_await peer.read_some(room, within(5s));
    REQUIRE(got.has_value());
    if (*got == 0) break;
    auto sent = co_await peer.write({room.data(), *got}, within(5s));
    REQUIRE(sent.has_value());
  }
  saw_end = true;
}

task<void> read_exactly(async::stream& from, std::string& to) {
  std::size_t filled = 0;
  while (filled < to.size()) {
    auto got = co_await from.read_some(std::span(to).subspan(filled), within(5s));
    REQUIRE(got.has_value());
    REQUIRE(*got > 0);
    filled += *got;
  }
}

task<void> send_all(async::stream& to, std::string text) {
  auto sent = co_await to.write(text, within(5s));
  CHECK(sent.has_value());
}

/// Accepts one client whose certificate its TLS context refuses.
task<void> refuse_once(async::listener& door, std::shared_ptr<SSL_CTX> tls) {
  auto socket = co_await door.accept();
  async::stream peer(std::move(*socket), tls, tls::role::server);
  auto shaken = co_await peer.handshake(within(15s));
  CHECK(shaken.has_error());
}

/// Keeps the socket full until the peer is gone.
task<void> pour(async::listener& door) {
  auto socket = co_await door.accept();
  async::stream peer(std::move(*socket), nullptr, tls::role::server);
  const std::string piece(256u << 10, 'x');
  for (result<void> sent; sent;) sent = co_await peer.write(piece, within(15s));
}

TEST_SUITE("common/async/stream") {
  TEST_CASE("a peer that always has more ready does not keep a reader beyond its deadline") {
    support::run([&](async::loop& loop) -> task<void> {
      auto door = async::listener::open(loop, "127.0.0.1", 0, quiet).value();
      async::task_group group(loop, quiet);
      group.spawn("pour", pour(door));
      auto peer = co_await async::connect("127.0.0.1", door.port(), nullptr, {}, within(15s));
      REQUIRE(peer.has_value());
      std::string room(64u << 10, '\0');
      const auto until = within(50ms);
      result<std::size_t> got = std::size_t{1};
      while (got && *got > 0) got = co_await peer->read_some(room, until);  // must end at the deadline
      REQUIRE(got.has_error());
      CHECK(got.error().code == errc::timeout);
      peer->close();
      const bool ended = co_await group.wait(within(15s));
      CHECK(ended);
    });
  }

  TEST_CASE("bytes go both ways at once, in order, plain and under TLS") {
    for (const bool tls : {false, true}) {
      CAPTURE(tls);
      both_ends ends(tls);
      bool saw_end = false;
      support::run([&](async::loop& loop) -> task<void> {
        auto door = async::listener::open(loop, "127.0.0.1", 0, quiet).value();
        async::task_group group(loop, quiet);
        group.spawn("echo", echo_once(door, ends.server(), saw_end));
        auto peer = co_await async::connect("127.0.0.1", door.port(), ends.client(), "localhost", within(5s));
        REQUIRE_MESSAGE(peer.has_value(), peer.error().message);
        std::string text(3'000'000, '\0');
        for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 977);
        // This is more than the socket buffers hold. Both sides would wait for ever if a stream could not
        // read and write in turns.
        group.spawn("writer", send_all(*peer, text));
        std::string back(text.size(), '\0');
        co_await read_exactly(*peer, back);
        CHECK(back == text);
        CHECK(peer->alpn() == (tls ? "binnacle/1" : ""));
        peer->end_writing();
        CHECK(co_await group.wait(within(5s)));
      });
      CHECK(saw_end);
    }
  }

  TEST_CASE(
      "a write to a peer that has refused our certificate and gone says so, and not only that it broke") {
    const support::temp_folder dir;
    support::authority ca(dir, "ca"), strangers(dir, "strangers");
    support::wanted node;
    node.common_name = "agent";
    auto pem = strangers.issue("n1", node);
    pem.authority = ca.certificate();
    const auto server =
        tls::context::load({tls::role::server, ca.issue_server(), tls::client_certificate::required}).value();
    const auto client = tls::context::load({tls::role::client, pem, tls::client_certificate::none}).value();
    support::run([&](async::loop& loop) -> task<void> {
      auto door = async::listener::open(loop, "127.0.0.1", 0, quiet).value();
      async::task_group group(loop, quiet);
      group.spawn("refuser", refuse_once(door, server->current()));
      auto peer =
          co_await async::connect("127.0.0.1", door.port(), client->current(), "localhost", within(15s));
      REQUIRE_MESSAGE(peer.has_value(), peer.error().message);  // TLS 1.3: the refusal comes later
      CHECK(co_await group.wait(within(15s)));                  // and the peer has gone
      result<void> sent;
      // The kernel may still take the first write.
      for (int i = 0; i < 10 && sent; ++i) sent = co_await peer->write("GET", within(15s));
      REQUIRE(sent.has_error());
      CHECK(sent.error().code == errc::permission);
      CAPTURE(sent.error().message);
      CHECK(sent.error().message.find("not signed by a CA that it trusts") != std::string::npos);
    });
  }

  TEST_CASE("a read that times out says so and can be tried again") {
    for (const bool tls : {false, true}) {
      CAPTURE(tls);
      both_ends ends(tls);
      support::run([&](async::loop& loop) -> task<void> {
        auto door = async::listener::open(loop, "127.0.0.1", 0, quiet).value();
        bool saw_end = false;
        async::task_group group(loop, quiet);
        group.spawn("echo", echo_once(door, ends.server(), saw_end));
        auto peer = co_await async::connect("localhost", door.port(), ends.client(), "", within(5s));
        REQUIRE_MESSAGE(peer.has_value(), peer.error().message);
        std::string room(5, '\0');
        auto nothing = co_await peer->read_some(room, within(30ms));
        REQUIRE(nothing.has_error());
        CHECK(nothing.error().code == errc::timeout);
        co_await send_all(*peer, "hello");
        co_await read_exactly(*peer, room);
        CHECK(room == "hello");
        peer->close();
        CHECK(co_await group.wait(within(5s)));
      });
    }
  }

  TEST_CASE("a write that the peer does not take times out, and its reader is not disturbed by that") {
    support::run([&](async::loop& loop) -> task<void> {
      auto door = async::listener::open(loop, "127.0.0.1", 0, quiet).value();
      auto peer = co_await async::connect("127.0.0.1", door.port(), nullptr, "", within(5s));
      auto deaf = co_await door.accept();
      const std::string much(64u << 20, 'x');
      auto sent = co_await peer->write(much, within(50ms));
      REQUIRE(sent.has_error());
      CHECK(sent.error().code == errc::timeout);
    });
  }

  TEST_CASE("what cannot be reached is named with its address") {
    support::run([&](async::loop& loop) -> task<void> {
      auto door = async::listener::open(loop, "127.0.0.1", 0, quiet).value();
      const auto port = door.port();
      door.close();
      auto peer = co_await async::connect("127.0.0.1", port, nullptr, "", within(5s));
      REQUIRE(peer.has_error());
      CHECK(peer.error().code == errc::disconnected);
      CHECK(peer.error().message.find("127.0.0.1:" + std::to_string(port)) != std::string::npos);
    });
  }

  TEST_CASE("no address is every address, of each family that the kernel has") {
    support::run([&](async::loop& loop) -> task<void> {
      auto door = async::listener::open(loop, "", 0, quiet).value();
      auto by_four = co_await async::connect("127.0.0.1", door.port(), nullptr, "", within(15s));
      CHECK(by_four.has_value());
      const auto known = read_file("/proc/net/if_inet6", 65536);  // not there without IPv6
      if (known && known->find("00000000000000000000000000000001 ") != std::string::npos) {
        auto by_six = co_await async::connect("::1", door.port(), nullptr, "", within(15s));
        CHECK(by_six.has_value());
      }
    });
  }

  TEST_CASE("a port in use is refused with the remedy") {
    support::run([&](async::loop& loop) -> task<void> {
      auto door = async::listener::open(loop, "127.0.0.1", 0, quiet).value();
      auto second = async::listener::open(loop, "127.0.0.1", door.port(), quiet);
      REQUIRE(second.has_error());
      CHECK(second.error().code == errc::io);
      CHECK(second.error().message.find("is in use") != std::string::npos);
      auto nonsense = async::listener::open(loop, "not-an-address", 0, quiet);
      REQUIRE(nonsense.has_error());
      CHECK(nonsense.error().code == errc::invalid_input);
      co_return;
    });
  }
}

}  // namespace

}  // namespace stream_test
