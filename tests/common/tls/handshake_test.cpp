// Two engines over a socket pair: who accepts whom, and which reason is given for a refusal.
#include "common/tls/context.hpp"
#include "common/tls/engine.hpp"
#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>
#include <openssl/ssl.h>

#include <array>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace handshake_test {

namespace {

using namespace binnacle;
using step = tls::engine::step;

/// Both ends of one connection, in one thread.
struct pair_of_ends {
  pair_of_ends(const tls::context& server_context, const tls::context& client_context,
               std::string server_name = "localhost") {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0);
    server = std::make_unique<tls::engine>(server_context.current(), tls::role::server, fds[0]);
    client = std::make_unique<tls::engine>(client_context.current(), tls::role::client, fds[1],
                                           std::move(server_name));
  }
  ~pair_of_ends() {
    for (const int fd : fds) ::close(fd);
  }

  static void send(int fd, tls::engine& e) {
    if (e.outbox().empty()) return;
    REQUIRE(::send(fd, e.outbox().data(), e.outbox().size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(e.outbox().size()));
    e.outbox().clear();
  }

  void shake() {
    for (int round = 0; round < 10; ++round) {
      if (client_step == step::want_read) client_step = client->handshake();
      send(fds[1], *client);
      if (server_step == step::want_read) server_step = server->handshake();
      send(fds[0], *server);
    }
  }
  /// What the client reads after a handshake that succeeded on its side. Under TLS 1.3 the server checks the
  /// client's certificate last.
  step read_at_client() {
    char byte = 0;
    std::size_t got = 0;
    return client->read(&byte, 1, got);
  }

  std::array<int, 2> fds{};
  std::unique_ptr<tls::engine> server, client;
  step server_step = step::want_read, client_step = step::want_read;
};

struct house {
  support::temp_folder dir;
  support::authority ca{dir, "ca"};
  support::authority strangers{dir, "strangers"};

  std::unique_ptr<tls::context> server(tls::client_certificate clients = tls::client_certificate::required,
                                       bool tls13 = false, std::string alpn = {}) {
    tls::options o{tls::role::server, ca.issue_server(), clients, tls13, std::move(alpn)};
    return tls::context::load(o).value();
  }
  static std::unique_ptr<tls::context> client(tls::files pem, std::string alpn = {}) {
    tls::options o;
    o.side = tls::role::client;
    o.pem = std::move(pem);
    o.alpn = std::move(alpn);
    return tls::context::load(o).value();
  }
  tls::files node(support::authority& by, long valid_to = 3600, const char* usage = "clientAuth") {
    support::wanted what;
    what.common_name = "agent of n1";
    what.organizations = {"fleet", "lab"};
    what.dns_names = {"n1"};
    what.uris = {"spiffe://lab/node/n1"};
    what.valid_from = -7200;
    what.valid_to = valid_to;
    what.extended_key_usage = usage;
    tls::files out = by.issue("node", what);
    out.authority = ca.certificate();
    return out;
  }
};

TEST_SUITE("common/tls/handshake") {
  TEST_CASE("both sides learn who the other is") {
    house h;
    const auto server = h.server();
    const auto client = house::client(h.node(h.ca));
    pair_of_ends ends(*server, *client);
    ends.shake();
    CHECK(ends.server_step == step::done);
    CHECK(ends.client_step == step::done);
    tls::identity who;
    REQUIRE(tls::peer_identity(ends.server->native(), who));
    CHECK(who.common_name == "agent of n1");
    CHECK(who.organizations == std::vector<std::string>{"fleet", "lab"});
    CHECK(who.dns_names == std::vector<std::string>{"n1"});
    CHECK(who.uris == std::vector<std::string>{"spiffe://lab/node/n1"});
    CHECK(who.fingerprint.size() == 64);
    CHECK(who.speaks_for("n1", "spiffe://lab/node/"));
    CHECK(std::string(SSL_get_version(ends.server->native())) == "TLSv1.3");
    CHECK(SSL_session_reused(ends.server->native()) == 0);
  }

  TEST_CASE(
      "a required client certificate that is missing, unknown, expired or for another purpose ends the "
      "handshake with the reason") {
    house h;
    const auto server = h.server();
    const auto judge = [&](tls::files pem, const std::string& server_says, const std::string& client_says) {
      CAPTURE(server_says);
      const auto client = house::client(std::move(pem));
      pair_of_ends ends(*server, *client);
      ends.shake();
      CHECK(ends.server_step == step::failed);
      CHECK(ends.server->why().code == errc::permission);
      CAPTURE(ends.server->why().message);
      CHECK(ends.server->why().message.find(server_says) != std::string::npos);
      CHECK(ends.read_at_client() == step::failed);
      CAPTURE(ends.client->why().message);
      CHECK(ends.client->why().code == errc::permission);
      CHECK(ends.client->why().message.find(client_says) != std::string::npos);
    };
    judge({{}, {}, h.ca.certificate()}, "gave no client certificate", "requires a client certificate");
    judge(h.node(h.strangers), "is not in the authority file", "not signed by a CA that it trusts");
    judge(h.node(h.ca, -3600), "has expired; issue a new one", "has expired");
    judge(h.node(h.ca, 3600, "serverAuth"), "extended key usage", "does not accept our certificate");
  }

  TEST_CASE(
      "an optional client certificate never ends the handshake, and only a good one gives an identity") {
    house h;
    const auto server = h.server(tls::client_certificate::optional);
    const auto identified = [&](tls::files pem) {
      const auto client = house::client(std::move(pem));
      pair_of_ends ends(*server, *client);
      ends.shake();
      CHECK(ends.server_step == step::done);
      CHECK(ends.client_step == step::done);
      tls::identity who;
      const bool known = tls::peer_identity(ends.server->native(), who);
      CHECK(known == !who.fingerprint.empty());
      return known;
    };
    CHECK(identified(h.node(h.ca)));
    CHECK_FALSE(identified({{}, {}, h.ca.certificate()}));
    CHECK_FALSE(identified(h.node(h.strangers)));
    CHECK_FALSE(identified(h.node(h.ca, -3600)));
    CHECK_FALSE(identified(h.node(h.ca, 3600, "serverAuth")));
  }

  TEST_CASE("a server that asks for no certificate gets none") {
    house h;
    const auto server = h.server(tls::client_certificate::none);
    const auto client = house::client(h.node(h.ca));
    pair_of_ends ends(*server, *client);
    ends.shake();
    CHECK(ends.server_step == step::done);
    tls::identity who;
    CHECK_FALSE(tls::peer_identity(ends.server->native(), who));
  }

  TEST_CASE("a client refuses a server of another name, of another authority, or past its end") {
    house h;
    const auto server = h.server(tls::client_certificate::none);
    const auto client = house::client({{}, {}, h.ca.certificate()});
    for (const char* name : {"localhost", "127.0.0.1", "::1"}) {
      CAPTURE(name);
      pair_of_ends ends(*server, *client, name);
      ends.shake();
      CHECK(ends.client_step == step::done);
    }
    for (const char* name : {"elsewhere", "127.0.0.2", "localhost.evil"}) {
      CAPTURE(name);
      pair_of_ends ends(*server, *client, name);
      ends.shake();
      CHECK(ends.client_step == step::failed);
      CHECK(ends.client->why().code == errc::permission);
      CHECK(ends.client->why().message.find("must carry \"" + std::string(name)) != std::string::npos);
    }
    const auto doubting = house::client({{}, {}, h.strangers.certificate()});
    pair_of_ends ends(*server, *doubting);
    ends.shake();
    CHECK(ends.client_step == step::failed);
    CHECK(ends.client->why().message.find("is not in the authority file") != std::string::npos);
  }

  TEST_CASE("the agent link speaks TLS 1.3 only, HTTP also 1.2 with forward secrecy") {
    house h;
    const auto strict = h.server(tls::client_certificate::none, true);
    const auto lenient = h.server(tls::client_certificate::none, false);
    const auto client = house::client({{}, {}, h.ca.certificate()});
    SSL_CTX_set_max_proto_version(client->current().get(), TLS1_2_VERSION);
    pair_of_ends refused(*strict, *client);
    refused.shake();
    CHECK(refused.server_step == step::failed);
    pair_of_ends served(*lenient, *client);
    served.shake();
    CHECK(served.server_step == step::done);
    CHECK(std::string(SSL_get_cipher(served.server->native())).starts_with("ECDHE-"));
  }

  TEST_CASE("protocols are agreed on by name; HTTP goes on without agreement, the agent link does not") {
    house h;
    const auto agents = h.server(tls::client_certificate::none, true, "binnacle/1");
    const auto http = h.server(tls::client_certificate::none, false, "http/1.1");
    const tls::files anyone{{}, {}, h.ca.certificate()};
    const auto agree = [](const tls::context& server, const tls::context& client) {
      pair_of_ends ends(server, client);
      ends.shake();
      return ends.server_step == step::done ? std::string(ends.server->alpn()) : std::string("refused");
    };
    CHECK(agree(*agents, *house::client(anyone, "binnacle/1")) == "binnacle/1");
    CHECK(agree(*agents, *house::client(anyone, "h2")) == "refused");
    CHECK(agree(*http, *house::client(anyone, "http/1.1")) == "http/1.1");
    CHECK(agree(*http, *house::client(anyone, "h2")).empty());
    CHECK(agree(*http, *house::client(anyone)).empty());
  }

  TEST_CASE("plain HTTP at a TLS port is recognised") {
    house h;
    const auto server = h.server();
    const auto client = house::client({{}, {}, h.ca.certificate()});
    pair_of_ends ends(*server, *client);
    const std::string text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    REQUIRE(::send(ends.fds[1], text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    CHECK(ends.server->handshake() == step::failed);
    CHECK(ends.server->peer_spoke_http());
  }

  TEST_CASE("bytes that are no TLS, and an end within the handshake, are named") {
    house h;
    const auto server = h.server();
    const auto client = house::client({{}, {}, h.ca.certificate()});
    {
      pair_of_ends ends(*server, *client);
      REQUIRE(::send(ends.fds[1], "\x01\x02\x03\x04\x05\x06\x07\x08", 8, 0) == 8);
      CHECK(ends.server->handshake() == step::failed);
      CHECK(ends.server->why().code == errc::protocol);
    }
    pair_of_ends ends(*server, *client);
    ::shutdown(ends.fds[1], SHUT_WR);
    CHECK(ends.server->handshake() == step::failed);
    CHECK(ends.server->why().code == errc::disconnected);
  }
}

}  // namespace

}  // namespace handshake_test
