#pragma once

#include "common/error.hpp"
#include "common/tls/identity.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_st X509;

namespace binnacle::tls {

/// What a certificate says about itself, unverified.
struct certificate_facts {
  identity names;
  std::vector<std::string> addresses;  ///< IP addresses in its subject alternative names
  std::string serial;                  ///< in the form of denied_serials.hpp
  std::string issuer;                  ///< its issuer's common name, or the whole name if it has none
  std::chrono::system_clock::time_point begins, ends;
  bool authority = false;                       ///< it may sign other certificates
  bool for_clients = true, for_servers = true;  ///< by extended key usage; without it for all
  bool signs_itself = false;
};

/// Whether its public key is also the key of the context's own certificate. False if either certificate is
/// missing.
bool has_key_of(const X509* certificate, const SSL_CTX* context);

/// The names that a certificate carries.
identity identity_of(X509* certificate);

/// Reads every certificate of a PEM text, in order. Messages call the text `name`. Errors: invalid_input (no
/// certificate, or one that cannot be read).
result<std::vector<certificate_facts>> read_certificates(const std::string& pem, const std::string& name);

/// Checks that each certificate of a PEM text was issued by the one after it: servers and clients must send
/// them in this order. Errors: invalid_input, with the certificate that is out of order.
result<void> chain_in_order(const std::string& pem, const std::string& name);

}  // namespace binnacle::tls
