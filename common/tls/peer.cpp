// What OpenSSL knows of a peer, as plain values.
#include "common/tls/context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>

namespace binnacle::tls {
namespace {

std::string utf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0) return {};
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return out;
}

std::vector<std::string> subject_entries(X509* certificate, int nid) {
  std::vector<std::string> out;
  X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = X509_NAME_get_index_by_NID(subject, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, nid, at)) {
    out.push_back(utf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  }
  return out;
}

void read_alternative_names(X509* certificate, identity& out) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  if (!names) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    // Both are IA5String; the length counts, so that "n1\0.evil" stays different from "n1".
    const auto text = [](const ASN1_IA5STRING* s) {
      return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(s)),
                         static_cast<std::size_t>(ASN1_STRING_length(s)));
    };
    if (name->type == GEN_DNS) out.dns_names.push_back(text(name->d.dNSName));
    if (name->type == GEN_URI) out.uris.push_back(text(name->d.uniformResourceIdentifier));
  }
}

std::string fingerprint_of(X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(std::size_t{size} * 2);
  for (unsigned i = 0; i < size; ++i) {
    out.push_back(digits[digest[i] >> 4]);
    out.push_back(digits[digest[i] & 15]);
  }
  return out;
}

}  // namespace

bool peer_identity(SSL* connection, identity& out) {
  out = {};
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(connection),
                                                                &X509_free);
  // An optional certificate that failed verification is as good as none (context.hpp,
  // client_certificate::optional).
  if (!certificate || SSL_get_verify_result(connection) != X509_V_OK) return false;
  auto names = subject_entries(certificate.get(), NID_commonName);
  if (!names.empty()) out.common_name = std::move(names.front());
  out.organizations = subject_entries(certificate.get(), NID_organizationName);
  read_alternative_names(certificate.get(), out);
  out.fingerprint = fingerprint_of(certificate.get());
  return true;
}

std::string last_error() {
  // The newest error is the outermost; the oldest names the cause, which is what a person needs.
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no further reason given by OpenSSL";
  if (const char* reason = ERR_reason_error_string(code)) return reason;
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace binnacle::tls
