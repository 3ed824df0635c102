#pragma once

#include "common/error.hpp"
#include "common/tls/identity.hpp"

#include <memory>
#include <string>
#include <string_view>

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_store_st X509_STORE;

namespace binnacle::tls {

/// Adds the PEM certificates in `text` to `store` as anchors. Messages call the text `name`. Errors:
/// invalid_input (no certificate, or a broken one).
result<void> add_authorities(X509_STORE* store, const std::string& text, std::string_view name);

/// The certificates that a peer showed, its own first. The handshake has proved that the peer has the private
/// key of its own certificate. Who signed the certificate is not checked yet.
class shown_chain {
 public:
  /// Null when the peer showed none.
  static std::shared_ptr<const shown_chain> of(SSL* connection);
  ~shown_chain();
  /// Whether the peer has the private key of the context's own certificate, which makes it one of us (a
  /// replica).
  bool has_key_of(const SSL_CTX* context) const;
  shown_chain(const shown_chain&) = delete;
  shown_chain& operator=(const shown_chain&) = delete;

 private:
  friend class authorities;
  struct impl;
  explicit shown_chain(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

/// Authorities that are checked only after the handshake, to tell kinds of clients apart: a server with
/// several kinds of callers has a different authority for each kind.
class authorities {
 public:
  /// `name` is for messages. Errors: invalid_input.
  static result<std::shared_ptr<const authorities>> read(const std::string& pem, std::string_view name);
  ~authorities();
  authorities(const authorities&) = delete;
  authorities& operator=(const authorities&) = delete;

  /// The peer's names, if one of these authorities signed its certificate for use by a client, directly or
  /// through the other certificates that it showed, and all of them are valid now. Errors: permission, with
  /// OpenSSL's reason. Costs the check of one signature per certificate of the chain, about 0.1 ms each.
  result<identity> verify(const shown_chain& shown) const;

 private:
  struct impl;
  explicit authorities(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::tls
