#include "common/tls/certificate.hpp"

#include "common/clock.hpp"
#include "common/tls/denied_serials.hpp"
#include "common/tls/pem.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <array>
#include <ctime>
#include <memory>

namespace binnacle::tls {
namespace {

using names_ptr = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;

std::string utf8(const ASN1_STRING* text) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0) return {};
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return out;
}

std::vector<std::string> entries(X509_NAME* of, int nid) {
  std::vector<std::string> out;
  for (int at = X509_NAME_get_index_by_NID(of, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(of, nid, at)) {
    out.push_back(utf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(of, at))));
  }
  return out;
}

names_ptr alternative_names(X509* certificate) {
  return {static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
          &GENERAL_NAMES_free};
}

void read_alternative_names(X509* certificate, identity& out) {
  const names_ptr names = alternative_names(certificate);
  if (!names) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    // Both are IA5String. The text is taken by its length, so that "n1\0.evil" stays different from "n1".
    const auto text = [](const ASN1_IA5STRING* s) {
      return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(s)),
                         static_cast<std::size_t>(ASN1_STRING_length(s)));
    };
    if (name->type == GEN_DNS) out.dns_names.push_back(text(name->d.dNSName));
    if (name->type == GEN_URI) out.uris.push_back(text(name->d.uniformResourceIdentifier));
  }
}

std::vector<std::string> addresses_of(X509* certificate) {
  std::vector<std::string> out;
  const names_ptr names = alternative_names(certificate);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_IPADD) continue;
    const int size = ASN1_STRING_length(name->d.iPAddress);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (size != 4 && size != 16) continue;
    ::inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), text.data(),
                text.size());
    out.emplace_back(text.data());
  }
  return out;
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

std::chrono::system_clock::time_point time_of(const ASN1_TIME* t) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(t, &utc) != 1) return {};
  return wall_at(timegm(&utc));
}

std::string issuer_of(X509* certificate) {
  X509_NAME* issuer = X509_get_issuer_name(certificate);
  const auto names = entries(issuer, NID_commonName);
  if (!names.empty()) return names.front();
  char* text = X509_NAME_oneline(issuer, nullptr, 0);
  std::string out = text == nullptr ? std::string() : text;
  OPENSSL_free(text);
  return out;
}

certificate_facts facts_of(X509* certificate) {
  certificate_facts out;
  out.names = identity_of(certificate);
  out.addresses = addresses_of(certificate);
  out.serial = serial_of(certificate);
  out.issuer = issuer_of(certificate);
  out.begins = time_of(X509_get0_notBefore(certificate));
  out.ends = time_of(X509_get0_notAfter(certificate));
  out.authority = X509_check_ca(certificate) == 1;
  // X509_get_extended_key_usage(3) gives UINT32_MAX if the extension is absent.
  const auto usage = X509_get_extended_key_usage(certificate);
  out.for_clients = (usage & XKU_SSL_CLIENT) != 0;
  out.for_servers = (usage & XKU_SSL_SERVER) != 0;
  out.signs_itself = (X509_get_extension_flags(certificate) & EXFLAG_SS) != 0;
  return out;
}

result<std::vector<certificate_ptr>> parsed(const std::string& pem, const std::string& name) {
  auto found = certificates_in(pem);
  if (found.has_error())
    return error{errc::invalid_input, fmt::format("{} holds {}", name, found.error().message)};
  return found;
}

}  // namespace

bool has_key_of(const X509* certificate, const SSL_CTX* context) {
  const X509* const own = context == nullptr ? nullptr : SSL_CTX_get0_certificate(context);
  EVP_PKEY* const theirs = certificate == nullptr ? nullptr : X509_get0_pubkey(certificate);
  return own != nullptr && theirs != nullptr && EVP_PKEY_eq(theirs, X509_get0_pubkey(own)) == 1;
}

identity identity_of(X509* certificate) {
  identity out;
  X509_NAME* subject = X509_get_subject_name(certificate);
  auto names = entries(subject, NID_commonName);
  if (!names.empty()) out.common_name = std::move(names.front());
  out.organizations = entries(subject, NID_organizationName);
  read_alternative_names(certificate, out);
  out.fingerprint = fingerprint_of(certificate);
  out.ends = time_of(X509_get0_notAfter(certificate));
  return out;
}

result<std::vector<certificate_facts>> read_certificates(const std::string& pem, const std::string& name) {
  auto all = parsed(pem, name);
  if (all.has_error()) return all.error();
  std::vector<certificate_facts> out;
  out.reserve(all->size());
  for (const auto& one : *all) out.push_back(facts_of(one.get()));
  return out;
}

result<void> chain_in_order(const std::string& pem, const std::string& name) {
  auto all = parsed(pem, name);
  if (all.has_error()) return all.error();
  for (std::size_t i = 1; i < all->size(); ++i) {
    X509* one = (*all)[i - 1].get();
    X509* next = (*all)[i].get();
    if (X509_check_issued(next, one) == X509_V_OK) continue;
    return error{
        errc::invalid_input,
        fmt::format("certificate {} of {} was not issued by the one after it: the own certificate comes "
                    "first, then its issuer, then that one's",
                    i, name)};
  }
  return {};
}

}  // namespace binnacle::tls
