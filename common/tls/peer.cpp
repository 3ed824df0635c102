// Takes what OpenSSL knows of a peer and gives it as plain values.
#include "common/tls/certificate.hpp"
#include "common/tls/context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>

namespace binnacle::tls {

bool peer_identity(SSL* connection, identity& out) {
  out = {};
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(connection),
                                                                &X509_free);
  // A certificate that is optional and failed verification counts as none (context.hpp,
  // client_certificate::optional).
  if (!certificate || SSL_get_verify_result(connection) != X509_V_OK) return false;
  out = identity_of(certificate.get());
  return true;
}

std::string last_error() {
  // The oldest error in OpenSSL's queue is the cause; newer ones say which call failed because of it.
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no further reason given by OpenSSL";
  if (const char* reason = ERR_reason_error_string(code)) return reason;
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace binnacle::tls
