#include "common/tls/costly_certificates.hpp"

#include "common/tls/context.hpp"
#include "common/tls/engine.hpp"
#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace costly_certificates_test {

namespace {

using namespace binnacle;
using step = tls::engine::step;
using key_ptr = std::shared_ptr<EVP_PKEY>;
using certificate_ptr = std::unique_ptr<X509, decltype(&X509_free)>;

key_ptr held(EVP_PKEY* key) {
  REQUIRE(key != nullptr);
  return {key, &EVP_PKEY_free};
}
key_ptr ec(const char* curve) { return held(EVP_EC_gen(curve)); }
/// The same kind of key, written in another form.
key_ptr ec(const char* curve, const char* form, const char* value) {
  auto key = ec(curve);
  REQUIRE(EVP_PKEY_set_utf8_string_param(key.get(), form, value) == 1);
  return key;
}
key_ptr of_kind(const char* kind) { return held(EVP_PKEY_Q_keygen(nullptr, nullptr, kind)); }
/// Only the public half, whose modulus is no product of primes: nothing is computed with it.
key_ptr rsa(int bits, int exponent_bits) {
  const std::unique_ptr<OSSL_PARAM_BLD, decltype(&OSSL_PARAM_BLD_free)> numbers(OSSL_PARAM_BLD_new(),
                                                                                &OSSL_PARAM_BLD_free);
  const auto power = [](int n) {
    std::unique_ptr<BIGNUM, decltype(&BN_free)> out(BN_new(), &BN_free);
    REQUIRE(BN_set_bit(out.get(), n - 1) == 1);
    REQUIRE(BN_set_bit(out.get(), 0) == 1);
    return out;
  };
  const auto n = power(bits), e = power(exponent_bits);
  OSSL_PARAM_BLD_push_BN(numbers.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(numbers.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  const std::unique_ptr<OSSL_PARAM, decltype(&OSSL_PARAM_free)> built(OSSL_PARAM_BLD_to_param(numbers.get()),
                                                                      &OSSL_PARAM_free);
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> maker(
      EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr), &EVP_PKEY_CTX_free);
  EVP_PKEY* key = nullptr;
  REQUIRE(EVP_PKEY_fromdata_init(maker.get()) == 1);
  REQUIRE(EVP_PKEY_fromdata(maker.get(), &key, EVP_PKEY_PUBLIC_KEY, built.get()) == 1);
  return held(key);
}

certificate_ptr certificate_with(EVP_PKEY* key) {
  static const key_ptr signer = ec("P-256");
  certificate_ptr out(X509_new(), &X509_free);
  X509_set_version(out.get(), X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(out.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(out.get()), 3600);
  REQUIRE(X509_set_pubkey(out.get(), key) == 1);
  REQUIRE(X509_sign(out.get(), signer.get(), EVP_sha256()) > 0);
  return out;
}

/// A client that shows more certificates than its own to a server that asks for one, and does not insist on
/// it.
struct caller {
  explicit caller(int version) {
    tls::options serving{tls::role::server, ca.issue_server(), tls::client_certificate::optional, false, {}};
    serving.pem.authority = ca.certificate();
    support::wanted who;
    who.common_name = "n1";
    const tls::options calling{
        tls::role::client, ca.issue("n1", who), tls::client_certificate::none, false, {}};
    contexts = {tls::context::load(serving).value(), tls::context::load(calling).value()};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0);
    server = std::make_unique<tls::engine>(contexts[0]->current(), tls::role::server, fds[0]);
    client = std::make_unique<tls::engine>(contexts[1]->current(), tls::role::client, fds[1], "localhost");
    SSL_ctrl(client->native(), SSL_CTRL_SET_MAX_PROTO_VERSION, version, nullptr);
  }
  ~caller() {
    for (const int fd : fds) ::close(fd);
  }
  void shows(const certificate_ptr& other) const {
    REQUIRE(SSL_ctrl(client->native(), SSL_CTRL_CHAIN_CERT, 1, other.get()) == 1);
  }
  /// How the handshake ended at the server.
  step calls() {
    step here = step::want_read, there = step::want_read;
    for (int round = 0; round < 5; ++round) {
      for (auto& [one, fd, last] : {std::tie(*client, fds[1], here), std::tie(*server, fds[0], there)}) {
        if (last == step::want_read) last = one.handshake();
        REQUIRE(::send(fd, one.outbox().data(), one.outbox().size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(one.outbox().size()));
        one.outbox().clear();
      }
    }
    return there;
  }

  support::temp_folder dir;
  support::authority ca{dir, "ca"};
  std::array<std::unique_ptr<tls::context>, 2> contexts;
  std::array<int, 2> fds{};
  std::unique_ptr<tls::engine> server, client;
};

}  // namespace

TEST_SUITE("common/tls/costly_certificates") {
  TEST_CASE("a certificate with a costly key ends the handshake before OpenSSL reads any of them") {
    struct costly {
      const char* why;
      key_ptr key;
    };
    const std::vector<costly> all{
        {"another curve", ec("P-384", OSSL_PKEY_PARAM_EC_ENCODING, OSSL_PKEY_EC_ENCODING_EXPLICIT)},
        {"another curve", ec("secp256k1")},
        {"a compressed key", ec("P-256", OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "compressed")},
        {"a compressed key", ec("P-521", OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "hybrid")},
        {"more than 8192 bits", rsa(16384, 17)},
        {"exponent is too large", rsa(2048, 64)},
        {"not RSA, ECDSA, Ed25519 or Ed448", of_kind("X448")},
    };
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      for (const costly& one : all) {
        CAPTURE(version);
        CAPTURE(one.why);
        caller c(version);
        c.shows(certificate_with(ec("P-256").get()));
        c.shows(certificate_with(one.key.get()));
        CHECK(c.calls() == step::failed);
        CHECK(c.server->why().code == errc::overloaded);
        CHECK(c.server->why().message.find(one.why) != std::string::npos);
        CHECK(SSL_get0_peer_certificate(c.server->native()) == nullptr);
      }
    }
  }

  TEST_CASE("certificates with the usual keys are read, up to ten of them") {
    const std::vector<key_ptr> usual{ec("P-256"),      ec("P-384"),   ec("P-521"),  of_kind("ED25519"),
                                     of_kind("ED448"), rsa(2048, 17), rsa(4096, 2), rsa(8192, 32)};
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      CAPTURE(version);
      caller c(version);
      for (const auto& key : usual) c.shows(certificate_with(key.get()));
      c.shows(certificate_with(usual[0].get()));
      CHECK(c.calls() == step::done);
      tls::identity who;
      CHECK(tls::peer_identity(c.server->native(), who));
      CHECK(who.common_name == "n1");

      caller more(version);
      for (int i = 0; i < tls::most_certificates; ++i) more.shows(certificate_with(usual[0].get()));
      CHECK(more.calls() == step::failed);
      CHECK(more.server->why().message == "the peer showed more than 10 certificates");
    }
  }

  TEST_CASE("a chain is bounded in bytes") {
    caller c(TLS1_3_VERSION);
    auto large = certificate_with(ec("P-256").get());
    const std::string name(40'000, 'x');
    const std::unique_ptr<ASN1_OCTET_STRING, decltype(&ASN1_OCTET_STRING_free)> content(
        ASN1_OCTET_STRING_new(), &ASN1_OCTET_STRING_free);
    ASN1_OCTET_STRING_set(content.get(), reinterpret_cast<const unsigned char*>(name.data()),
                          static_cast<int>(name.size()));
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509_EXTENSION_create_by_NID(nullptr, NID_netscape_comment, 0, content.get()), &X509_EXTENSION_free);
    X509_add_ext(large.get(), extension.get(), -1);
    c.shows(large);
    CHECK(c.calls() == step::failed);
    CHECK(SSL_get0_peer_certificate(c.server->native()) == nullptr);
  }

  TEST_CASE(
      "a message that is cut or changed anywhere is refused or understood, and no byte beyond it is read") {
    const auto certificate = certificate_with(ec("P-256").get());
    unsigned char* der = nullptr;
    const int size = i2d_X509(certificate.get(), &der);
    REQUIRE(size > 0);
    const std::vector<unsigned char> one(der, der + size);
    OPENSSL_free(der);
    const auto length = [](std::size_t n) {
      return std::vector<unsigned char>{static_cast<unsigned char>(n >> 16),
                                        static_cast<unsigned char>(n >> 8), static_cast<unsigned char>(n)};
    };
    std::vector<unsigned char> message{11};
    const auto add = [&](const std::vector<unsigned char>& more) {
      message.insert(message.end(), more.begin(), more.end());
    };
    add(length(one.size() + 6));
    add(length(one.size() + 3));
    add(length(one.size()));
    add(one);
    REQUIRE(tls::too_costly(message, false).empty());
    for (std::size_t cut = 4; cut < message.size(); ++cut) {
      // A copy of its own size, so that a sanitizer sees what is read beyond it.
      const std::vector<unsigned char> part(message.begin(),
                                            message.begin() + static_cast<std::ptrdiff_t>(cut));
      CAPTURE(cut);
      CHECK(tls::too_costly(part, false) == "the peer's chain of certificates is malformed");
    }
    for (auto& byte : message) {
      for (const int bit : {1, 0x80}) {
        byte = static_cast<unsigned char>(byte ^ bit);
        (void)tls::too_costly(message, false);
        (void)tls::too_costly(message, true);
        byte = static_cast<unsigned char>(byte ^ bit);
      }
    }
    // BER knows lengths that are found only by reading on. OpenSSL would read them, so nobody does.
    message[10 + 1] = 0x80;
    CHECK(tls::too_costly(message, false) == "the peer showed a certificate that is not written as DER");
  }
}

}  // namespace costly_certificates_test
