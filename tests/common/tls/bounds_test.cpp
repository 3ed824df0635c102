// What a peer can make an engine do, and where the engine stops.
#include "common/tls/context.hpp"
#include "common/tls/engine.hpp"
#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>
#include <openssl/ssl.h>

#include <array>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace bounds_test {

namespace {

using namespace binnacle;
using step = tls::engine::step;

/// The engines of a server and a client; the test carries the bytes between them.
struct bench {
  explicit bench(std::size_t names_of_server = 0, bool tls13 = true) {
    support::wanted whom;
    whom.dns_names = {"localhost"};
    for (std::size_t i = 0; i < names_of_server; ++i) whom.dns_names.push_back("name-" + std::to_string(i));
    tls::options serving{
        tls::role::server, ca.issue("server", whom), tls::client_certificate::required, tls13, {}};
    support::wanted who;
    who.common_name = "n1";
    tls::options calling{tls::role::client, ca.issue("n1", who), tls::client_certificate::none, tls13, {}};
    server_context = tls::context::load(serving).value();
    client_context = tls::context::load(calling).value();
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0);
    // The buffers must hold everything that a test sends before the other side reads.
    for (const int fd : fds) {
      const int room = 4 << 20;
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    }
    server = std::make_unique<tls::engine>(server_context->current(), tls::role::server, fds[0]);
    client = std::make_unique<tls::engine>(client_context->current(), tls::role::client, fds[1], "localhost");
  }
  ~bench() {
    for (const int fd : fds) ::close(fd);
  }

  static void send(int fd, std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const auto n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      REQUIRE(n > 0);
      sent += static_cast<std::size_t>(n);
    }
    bytes.clear();
  }
  void from_client() { send(fds[1], client->outbox()); }
  void from_server() { send(fds[0], server->outbox()); }

  /// Goes on with a handshake until this side waits for the other, or its handshake is over.
  void go_on(tls::engine& one, step& last) {
    if (last != step::want_read) return;
    for (last = one.handshake(); last == step::want_turn; last = one.handshake()) ++turns;
  }
  /// A whole handshake. How it ended at the server.
  step try_to_shake() {
    step at_client = step::want_read, at_server = step::want_read;
    for (int round = 0; round < 5; ++round) {
      go_on(*client, at_client);
      from_client();
      go_on(*server, at_server);
      from_server();
    }
    return at_server;
  }
  void shake() {
    REQUIRE(try_to_shake() == step::done);
    REQUIRE(SSL_is_init_finished(client->native()) == 1);
  }

  /// The client changes its keys and asks the server to change its own.
  void change_keys() {
    REQUIRE(SSL_key_update(client->native(), SSL_KEY_UPDATE_REQUESTED) == 1);
    REQUIRE(client->handshake() == step::done);
    from_client();
  }

  step read(std::string& text) {
    std::array<char, 1024> room;
    std::size_t got = 0;
    const step made = server->read(room.data(), room.size(), got);
    text.assign(room.data(), got);
    return made;
  }

  support::temp_folder dir;
  support::authority ca{dir, "ca"};
  std::unique_ptr<tls::context> server_context, client_context;
  std::array<int, 2> fds{};
  std::unique_ptr<tls::engine> server, client;
  int turns = 0;
};

TEST_SUITE("common/tls/bounds") {
  TEST_CASE("a flood of key updates ends the connection with the reason, long before its end is read") {
    bench b;
    b.shake();
    constexpr int many = 2'000;
    for (int i = 0; i < many; ++i) b.change_keys();
    std::string text;
    CHECK(b.read(text) == step::failed);
    CHECK(b.server->why().code == errc::overloaded);
    CHECK(b.server->why().message.find("key updates") != std::string::npos);
    // Each key update that is accepted gets an answer in the outbox. So none beyond the bound was accepted.
    constexpr std::size_t answer = 64;
    CHECK(b.server->outbox().size() <= answer * (tls::engine::most_messages + 1));
    CHECK(b.read(text) == step::failed);
  }

  TEST_CASE("a peer that changes its keys a few times is served on") {
    bench b;
    b.shake();
    std::string text;
    for (int i = 0; i < tls::engine::most_messages - 1; ++i) {
      b.change_keys();
      REQUIRE(b.client->write("hello") == step::done);
      b.from_client();
      REQUIRE(b.read(text) == step::done);
      CHECK(text == "hello");
    }
  }

  TEST_CASE("a hello that is too long ends the handshake before OpenSSL reads it") {
    for (const std::size_t size : {3'000, 5'000}) {
      CAPTURE(size);
      bench b;
      std::string protocols;  // each behind its length (RFC 7301)
      while (protocols.size() < size) protocols += "\x0aprotocol-x";
      const auto* bytes = reinterpret_cast<const unsigned char*>(protocols.data());
      REQUIRE(SSL_set_alpn_protos(b.client->native(), bytes, static_cast<unsigned>(protocols.size())) == 0);
      if (size < tls::engine::most_hello) {
        CHECK(b.try_to_shake() == step::done);
        continue;
      }
      CHECK(b.try_to_shake() == step::failed);
      CHECK(b.server->why().code == errc::overloaded);
      CHECK(b.server->why().message.find("ClientHello") != std::string::npos);
    }
  }

  TEST_CASE("one call takes a bounded part of a long handshake, and the next goes on with it") {
    bench b(6'000);  // a certificate of 90 kB
    SSL_set_max_send_fragment(b.server->native(), 512);
#ifdef SSL_OP_NO_TX_CERTIFICATE_COMPRESSION
    // OpenSSL 3.2 and later would compress this certificate to 15 kB (RFC 8879).
    SSL_set_options(b.server->native(), SSL_OP_NO_TX_CERTIFICATE_COMPRESSION);
#endif
    b.shake();
    CHECK(b.turns > 0);
    CHECK(b.client->received() > tls::engine::turn_size);
  }

  TEST_CASE("a peer that takes nothing does not make the outbox grow without end") {
    bench b;
    b.shake();
    const std::string piece(60'000, 'x');
    step made = step::done;
    for (int i = 0; i < 10 && made == step::done; ++i) made = b.server->write(piece);
    CHECK(made == step::failed);
    CHECK(b.server->why().code == errc::overloaded);
    CHECK(b.server->outbox().size() <= tls::engine::most_outbox);
  }
}

}  // namespace

}  // namespace bounds_test
