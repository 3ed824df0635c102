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

/// What a certificate says about itself; nothing of it is verified.
struct certificate_facts {
  identity names;
  std::vector<std::string> addresses;  ///< IP addresses among its subject alternative names
  std::string serial;                  ///< as denied_serials.hpp has it
  std::string issuer;                  ///< its common name, or the whole name if it has none
  std::chrono::system_clock::time_point begins, ends;
  bool authority = false;                       ///< may sign others
  bool for_clients = true, for_servers = true;  ///< by its extended key usage; without one it is for all
  bool signs_itself = false;
};

/// Whether its public key is that of the context's own certificate. False without either.
bool has_key_of(const X509* certificate, const SSL_CTX* context);

/// The names that a certificate carries.
identity identity_of(X509* certificate);

/// Every certificate of a PEM text, in order; `name` is what messages call it. Errors: invalid_input (none,
/// or one that cannot be read).
result<std::vector<certificate_facts>> read_certificates(const std::string& pem, const std::string& name);

/// Whether each certificate of a PEM text was issued by the one after it, as a server or client must send
/// them. Errors: invalid_input, saying which was not.
result<void> chain_in_order(const std::string& pem, const std::string& name);

}  // namespace binnacle::tls
