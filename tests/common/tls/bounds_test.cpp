// What a peer can make an engine do, and where the engine stops.
#include "common/tls/context.hpp"
#include "common/tls/engine.hpp"
#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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

/// Writes records of a client's connection (TLS 1.2 with CHACHA20-POLY1305, RFC 7905) that no client of
/// OpenSSL would write: it sends no second hello before the first one is answered.
class record_writer {
 public:
  /// The handshake of `client` is done, and from now on it writes nothing itself.
  explicit record_writer(SSL* client) {
    std::array<unsigned char, 48> secret;
    std::array<unsigned char, 32> of_client, of_server;
    REQUIRE(SSL_SESSION_get_master_key(SSL_get_session(client), secret.data(), secret.size()) ==
            secret.size());
    REQUIRE(SSL_get_client_random(client, of_client.data(), of_client.size()) == of_client.size());
    REQUIRE(SSL_get_server_random(client, of_server.data(), of_server.size()) == of_server.size());
    // RFC 5246, 6.3: the keys of both sides, then what their nonces are made of.
    const std::string_view label = "key expansion";
    std::array<unsigned char, 2 * key_size + 2 * nonce_size> block;
    std::size_t size = block.size();
    const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> prf(
        EVP_PKEY_CTX_new_id(EVP_PKEY_TLS1_PRF, nullptr), &EVP_PKEY_CTX_free);
    REQUIRE(prf.get() != nullptr);
    const auto seed = [&prf](const unsigned char* bytes, std::size_t n) {
      REQUIRE(EVP_PKEY_CTX_add1_tls1_prf_seed(prf.get(), bytes, static_cast<int>(n)) == 1);
    };
    REQUIRE(EVP_PKEY_derive_init(prf.get()) == 1);
    REQUIRE(EVP_PKEY_CTX_set_tls1_prf_md(prf.get(), EVP_sha256()) == 1);
    REQUIRE(EVP_PKEY_CTX_set1_tls1_prf_secret(prf.get(), secret.data(), static_cast<int>(secret.size())) ==
            1);
    seed(reinterpret_cast<const unsigned char*>(label.data()), label.size());
    seed(of_server.data(), of_server.size());
    seed(of_client.data(), of_client.size());
    REQUIRE(EVP_PKEY_derive(prf.get(), block.data(), &size) == 1);
    REQUIRE(size == block.size());
    std::copy_n(block.begin(), key_size, key_.begin());
    std::copy_n(block.begin() + 2 * key_size, nonce_size, nonce_.begin());
  }

  /// The next record, with this content type (RFC 5246, 6.2.1).
  std::string next(int type, std::string_view text) {
    std::array<unsigned char, nonce_size> nonce = nonce_;
    std::string covered;  // by the tag, besides the text: the record's number, type, version and length
    for (std::size_t i = 0; i < 8; ++i) {
      const auto byte = static_cast<unsigned char>(number_ >> (56 - 8 * i));
      covered.push_back(static_cast<char>(byte));
      nonce[nonce_size - 8 + i] = static_cast<unsigned char>(nonce[nonce_size - 8 + i] ^ byte);
    }
    ++number_;
    std::string out = head(type, text.size() + tag_size);
    covered += head(type, text.size());
    std::string sealed(text.size() + tag_size, '\0');
    auto* const to = reinterpret_cast<unsigned char*>(sealed.data());
    const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> cipher(EVP_CIPHER_CTX_new(),
                                                                                 &EVP_CIPHER_CTX_free);
    EVP_CIPHER_CTX* const c = cipher.get();
    int size = 0;
    REQUIRE(EVP_EncryptInit_ex(c, EVP_chacha20_poly1305(), nullptr, key_.data(), nonce.data()) == 1);
    REQUIRE(EVP_EncryptUpdate(c, nullptr, &size, reinterpret_cast<const unsigned char*>(covered.data()),
                              static_cast<int>(covered.size())) == 1);
    REQUIRE(EVP_EncryptUpdate(c, to, &size, reinterpret_cast<const unsigned char*>(text.data()),
                              static_cast<int>(text.size())) == 1);
    REQUIRE(EVP_EncryptFinal_ex(c, to + text.size(), &size) == 1);
    REQUIRE(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, tag_size, to + text.size()) == 1);
    return out + sealed;
  }

 private:
  static constexpr std::size_t key_size = 32, nonce_size = 12;
  static constexpr int tag_size = 16;

  static std::string head(int type, std::size_t size) {
    return {static_cast<char>(type), 3, 3, static_cast<char>(size >> 8), static_cast<char>(size & 0xff)};
  }

  std::array<unsigned char, key_size> key_;
  std::array<unsigned char, nonce_size> nonce_;
  std::uint64_t number_ = 1;  // the client's Finished was record 0
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

  TEST_CASE("a flood of hellos after the handshake of TLS 1.2 ends the connection like one of key updates") {
    bench b(0, false);
    REQUIRE(SSL_set_max_proto_version(b.client->native(), TLS1_2_VERSION) == 1);
    REQUIRE(SSL_set_cipher_list(b.client->native(), "ECDHE+CHACHA20") == 1);
    b.shake();
    record_writer records(b.client->native());
    std::string bytes = records.next(SSL3_RT_APPLICATION_DATA, "hello"), text;
    bench::send(b.fds[1], bytes);
    REQUIRE(b.read(text) == step::done);
    REQUIRE_MESSAGE(text == "hello", "the server can read these records");

    constexpr std::string_view hello("\x01\0\0\4\0\0\0\0", 8);  // one that OpenSSL need not read to refuse
    constexpr int many = 2'000;
    for (int i = 0; i < many; ++i) bytes += records.next(SSL3_RT_HANDSHAKE, hello);
    bench::send(b.fds[1], bytes);
    CHECK(b.read(text) == step::failed);
    // OpenSSL 3.0 answers each hello with an alert, so they must have been counted. Another version may end
    // the connection at the first one.
    constexpr std::size_t answer = 64;
    const bool was_counted = b.server->why().code == errc::overloaded;
    CHECK(b.server->outbox().size() <= answer * (was_counted ? tls::engine::most_messages + 1 : 1));
    CHECK(b.read(text) == step::failed);
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
