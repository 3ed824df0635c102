#include "common/tls/context.hpp"

#include "common/system/read_file.hpp"
#include "common/tls/certificate.hpp"
#include "common/tls/chain.hpp"
#include "common/tls/costly_certificates.hpp"
#include "common/tls/denied_serials.hpp"
#include "common/tls/pem.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cstring>

namespace binnacle::tls {
namespace {

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

constexpr std::size_t most_pem = 16u << 20;  // bytes: about ten thousand CAs

result<std::string> read_pem(const std::string& path, std::string_view what) {
  auto text = read_file(path, most_pem);
  if (text.has_value() && !text->empty()) return text;
  if (text.has_value()) return error{errc::invalid_input, fmt::format("{} {} is empty", what, path)};
  switch (text.error().code) {
    case errc::not_found:
      return error{
          errc::not_found,
          fmt::format(
              "{} {} does not exist: name an existing file, or make trial certificates with scripts/pki",
              what, path)};
    case errc::permission:
      return error{errc::permission,
                   fmt::format("{} {} may not be read by this user: {}", what, path, text.error().message)};
    default:
      return error{errc::io, fmt::format("{} {} cannot be read: {}", what, path, text.error().message)};
  }
}

/// A PEM text that was given directly, or read from a file. Messages call it `name`.
struct source {
  source(const std::string& t, const std::string& path, std::string_view kind)
      : text(t), file(path), what(kind), name(t.empty() ? path : "(in the configuration)") {}
  bool empty() const { return text.empty() && file.empty(); }
  result<std::string> read() const { return text.empty() ? read_pem(file, what) : result<std::string>(text); }
  const std::string& text;
  const std::string& file;
  std::string_view what;
  std::string name;
};

result<void> use_certificate(SSL_CTX* context, const options& o) {
  const source certificate(o.text.certificate, o.pem.certificate, "certificate");
  const source key_source(o.text.key, o.pem.key, "key");
  auto chain_text = certificate.read();
  if (chain_text.has_error()) return chain_text.error();
  auto chain = certificates_in(*chain_text);
  if (chain.has_error())
    return error{errc::invalid_input,
                 fmt::format("certificate {} holds {}", certificate.name, chain.error().message)};
  X509* const own = chain->front().get();
  const auto refused = [&] {
    return error{errc::invalid_input,
                 fmt::format("certificate {} cannot be used: {}", certificate.name, last_error())};
  };
  if (SSL_CTX_use_certificate(context, own) != 1) return refused();
  SSL_CTX_clear_chain_certs(context);
  for (std::size_t i = 1; i < chain->size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, (*chain)[i].get()) != 1) return refused();
  }

  auto key_text = key_source.read();
  if (key_text.has_error()) return key_text.error();
  const bio_ptr key_bio = bio_over(*key_text);
  const key_ptr key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, &no_passphrase, nullptr), &EVP_PKEY_free);
  OPENSSL_cleanse(key_text->data(), key_text->size());
  if (!key) {
    return error{errc::invalid_input,
                 fmt::format("key {} holds no usable PEM private key without a passphrase: {}",
                             key_source.name, last_error())};
  }
  if (X509_check_private_key(own, key.get()) != 1) {
    ERR_clear_error();
    return error{
        errc::invalid_input,
        fmt::format(
            "certificate {} and key {} do not belong together: the key's public half is not the one in the "
            "certificate; give the pair that was issued together",
            certificate.name, key_source.name)};
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return error{errc::invalid_input,
                 fmt::format("key {} cannot be used: {}", key_source.name, last_error())};
  }
  return {};
}

result<void> trust_authority(SSL_CTX* context, const source& authority) {
  auto text = authority.read();
  if (text.has_error()) return text.error();
  return add_authorities(SSL_CTX_get_cert_store(context), *text, authority.name);
}

/// How a server checks its clients' certificates. It lives as long as the SSL_CTX, because connections may
/// keep the SSL_CTX longer than the context object.
struct client_rules {
  bool must_verify = true;
  denied_serials denied;

  /// Whether the client's own certificate, or one that it sent with it, is denied.
  bool deny_any(const X509* own, const STACK_OF(X509) * others) const {
    if (denied.empty()) return false;
    for (int i = 0; i < sk_X509_num(others); ++i) {
      if (denied.contains(sk_X509_value(others, i))) return true;
    }
    return denied.contains(own);
  }
};

int rules_slot() {
  static const int slot = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* held, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<client_rules*>(held); });
  return slot;
}

// A denied serial number ends the handshake, whoever signed the certificate. Otherwise OpenSSL's usual rules
// hold. If a certificate is optional, the handshake goes on also with an invalid one: SSL_get_verify_result()
// keeps the reason, and peer_identity() gives no identity then. The handshake still proves that the client
// has the key.
int verify_client(X509_STORE_CTX* chain, void* arg) {
  const auto& rules = *static_cast<const client_rules*>(arg);
  if (rules.deny_any(X509_STORE_CTX_get0_cert(chain), X509_STORE_CTX_get0_untrusted(chain))) {
    X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_REVOKED);
    return 0;
  }
  const int verified = X509_verify_cert(chain);
  if (rules.must_verify) return verified;
  ERR_clear_error();
  return 1;
}

result<denied_serials> read_denied(const std::string& path) {
  if (path.empty()) return denied_serials();
  auto text = read_file(path, most_pem);
  if (text.has_value()) return denied_serials::read(*text, path);
  return error{text.error().code, fmt::format("the list of denied serial numbers {} cannot be read: {}", path,
                                              text.error().message)};
}

result<void> set_client_rules(SSL_CTX* context, const options& o) {
  auto denied = read_denied(o.pem.denied);
  if (denied.has_error()) return denied.error();
  auto rules = std::make_unique<client_rules>();
  rules->must_verify = o.clients == client_certificate::required;
  rules->denied = std::move(*denied);
  SSL_CTX_set_cert_verify_callback(context, &verify_client, rules.get());
  if (SSL_CTX_set_ex_data(context, rules_slot(), rules.get()) != 1)
    return error{errc::internal, "OpenSSL has no room for the rules of clients: " + last_error()};
  (void)rules.release();
  return {};
}

/// Accepts a peer that has proved to have the key of our own certificate: it is a replica, whatever its
/// certificate says.
int verify_own_key(X509_STORE_CTX* chain, void*) {
  const auto* connection =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  if (has_key_of(X509_STORE_CTX_get0_cert(chain), SSL_get_SSL_CTX(connection))) return 1;
  X509_STORE_CTX_set_error(chain, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

// RFC 7301. For HTTP it is no error if client and server have no protocol in common. Go offers "h2" and
// "http/1.1"; other clients offer nothing, or only "h2", and speak HTTP/1.1 all the same.
int choose_alpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                unsigned offered_size, void* arg) {
  const auto& wanted = *static_cast<const std::string*>(arg);
  for (unsigned at = 0; at < offered_size; at += 1u + offered[at]) {
    const unsigned char* name = offered + at + 1;
    if (at + 1 + offered[at] > offered_size) break;
    if (wanted.size() == offered[at] && std::memcmp(wanted.data(), name, wanted.size()) == 0) {
      *out = name;
      *out_size = offered[at];
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return wanted.starts_with("http/") ? SSL_TLSEXT_ERR_NOACK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void set_protocols(SSL_CTX* context, const options& o) {
  SSL_CTX_set_min_proto_version(context, o.tls13_only ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384");
  // No resumption of sessions: a resumed session would keep the identity of a certificate that may have been
  // replaced since then.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // An idle connection needs 34 kB less, and a wake-up needs one read(2) instead of two per record.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
  if (o.side == role::client) return;
  // An engine looks at the certificates of clients before OpenSSL reads them. Compressed ones (RFC 8879,
  // OpenSSL 3.2) it would not see.
  SSL_CTX_set_max_cert_list(context, most_chain);
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
  SSL_CTX_set_options(context, SSL_OP_NO_RX_CERTIFICATE_COMPRESSION);
#endif
}

void set_alpn(SSL_CTX* context, const options& o) {
  if (o.alpn.empty()) return;
  if (o.side == role::server) {
    // The name must live as long as the SSL_CTX, because connections may keep the SSL_CTX longer than this
    // context object.
    auto* name = new std::string(o.alpn);
    static const int slot = SSL_CTX_get_ex_new_index(
        0, nullptr, nullptr, nullptr,
        [](void*, void* held, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<std::string*>(held); });
    SSL_CTX_set_ex_data(context, slot, name);
    SSL_CTX_set_alpn_select_cb(context, &choose_alpn, name);
  } else {
    const std::string wire = static_cast<char>(o.alpn.size()) + o.alpn;
    SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(wire.data()),
                            static_cast<unsigned>(wire.size()));
  }
}

result<void> set_verification(SSL_CTX* context, const options& o) {
  if (o.side == role::server && o.clients == client_certificate::none) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return {};
  }
  if (o.side == role::client && o.servers == trust::ourselves) {
    SSL_CTX_set_cert_verify_callback(context, &verify_own_key, nullptr);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    return {};
  }
  if (o.side == role::client && o.servers != trust::authority) {
    if (o.servers == trust::system) SSL_CTX_set_default_verify_paths(context);
    SSL_CTX_set_verify(context, o.servers == trust::system ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    return {};
  }
  const source authority(o.text.authority, o.pem.authority, "authority");
  if (authority.empty()) {
    return error{
        errc::invalid_input,
        o.side == role::client
            ? "no authority file is given: name the CA certificate that signed the server's certificate"
            : "no authority file is given: name the CA certificate that signs the clients' certificates"};
  }
  if (auto trusted = trust_authority(context, authority); trusted.has_error()) return trusted;
  int mode = SSL_VERIFY_PEER;
  if (o.side == role::server && o.clients == client_certificate::required)
    mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context, mode, nullptr);
  if (o.side == role::server) return set_client_rules(context, o);
  return {};
}

result<std::shared_ptr<SSL_CTX>> build(const options& o) {
  ERR_clear_error();
  const bool server = o.side == role::server;
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()),
                                   &SSL_CTX_free);
  if (!context) return error{errc::internal, "OpenSSL gave no TLS context: " + last_error()};
  set_protocols(context.get(), o);
  set_alpn(context.get(), o);
  const bool certified = !o.pem.certificate.empty() || !o.text.certificate.empty();
  if (server && !certified) {
    return error{errc::invalid_input,
                 "no certificate is given: a TLS server needs a certificate and its key"};
  }
  // A client may have no certificate: it then shows a token later, or stays anonymous.
  if (certified) {
    if (auto used = use_certificate(context.get(), o); used.has_error()) return used.error();
  }
  if (auto set = set_verification(context.get(), o); set.has_error()) return set.error();
  return context;
}

std::array<std::optional<file_stamp>, 4> stamps_of(const files& pem) {
  return {file_stamp::of(pem.certificate), file_stamp::of(pem.key), file_stamp::of(pem.authority),
          file_stamp::of(pem.denied)};
}

/// `from` null: the present time.
long seconds_between(const ASN1_TIME* from, const ASN1_TIME* to) {
  int days = 0;
  int seconds = 0;
  if (ASN1_TIME_diff(&days, &seconds, from, to) != 1) return 0;
  return days * 86400L + seconds;
}

long seconds_left_of(SSL_CTX* context) {
  const X509* own = SSL_CTX_get0_certificate(context);
  return own == nullptr ? 0 : seconds_between(nullptr, X509_get0_notAfter(own));
}

}  // namespace

result<std::unique_ptr<context>> context::load(options o) {
  std::unique_ptr<context> out(new context(std::move(o)));
  // Take the stamps first: then a file that is replaced while we read it has another stamp at the next look.
  out->stamps_ = stamps_of(out->options_.pem);
  auto built = build(out->options_);
  if (built.has_error()) return built.error();
  out->current_ = std::move(*built);
  return out;
}

result<bool> context::reload_if_changed() {
  const auto now = stamps_of(options_.pem);
  if (now == stamps_) return false;
  auto built = build(options_);
  // The stamps are kept even if the files are broken. So a broken file is reported once, and read again only
  // when it changes. If the files could not be read (for example, no file descriptor was left), the stamps
  // are forgotten, and the next look reads them again.
  stamps_.reset();
  if (built.has_value() || built.error().code != errc::io) stamps_ = now;
  const auto refuse = [this](errc code, std::string why) {
    trouble_ = std::move(why);
    return error{code, trouble_};
  };
  if (built.has_error()) {
    return refuse(built.error().code,
                  built.error().message + "; the certificate loaded before stays in force");
  }
  if (SSL_CTX_get0_certificate(built->get()) != nullptr && seconds_left_of(built->get()) <= 0 &&
      seconds_left() > 0) {
    return refuse(errc::invalid_input,
                  fmt::format("certificate {} has already expired; the one loaded before stays in force",
                              options_.pem.certificate));
  }
  trouble_.clear();
  current_ = std::move(*built);
  for (const auto& tell : told_) tell();
  return true;
}

bool context::denies(SSL* connection) const {
  if (SSL_get_verify_result(connection) == X509_V_ERR_CERT_REVOKED) return true;  // by verify_client() only
  const auto* rules = static_cast<const client_rules*>(SSL_CTX_get_ex_data(current_.get(), rules_slot()));
  return rules != nullptr &&
         rules->deny_any(SSL_get0_peer_certificate(connection), SSL_get_peer_cert_chain(connection));
}

long context::seconds_left() const { return seconds_left_of(current_.get()); }

bool context::ends_soon() const {
  const X509* own = SSL_CTX_get0_certificate(current_.get());
  return own != nullptr &&
         seconds_left() < seconds_between(X509_get0_notBefore(own), X509_get0_notAfter(own)) / 10;
}

}  // namespace binnacle::tls
