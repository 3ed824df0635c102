#include "common/tls/own_certificate.hpp"

#include "common/text/text.hpp"
#include "common/tls/certificate.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <ctime>
#include <sys/stat.h>

namespace binnacle::tls {
namespace {

std::string date(const ASN1_TIME* t) {
  std::tm utc{};
  std::array<char, 32> text{};
  if (ASN1_TIME_to_tm(t, &utc) != 1) return "an unknown date";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &utc)};
}

std::string name_of(X509* certificate) {
  const auto who = identity_of(certificate);
  return in_quotes(
      who.common_name.empty() && !who.dns_names.empty() ? who.dns_names.front() : who.common_name, 253);
}

}  // namespace

std::string out_of_date(SSL_CTX* context) {
  X509* own = SSL_CTX_get0_certificate(context);
  if (own == nullptr) return {};
  // X509_cmp_current_time(3): negative for a time that has passed.
  if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0) {
    return fmt::format("certificate {} ended on {}: issue a new one", name_of(own),
                       date(X509_get0_notAfter(own)));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(own)) > 0) {
    return fmt::format("certificate {} begins only on {}: compare this machine's clock with its issuer's",
                       name_of(own), date(X509_get0_notBefore(own)));
  }
  return {};
}

std::string exposed_key(const std::string& file) {
  struct stat s {};
  if (file.empty() || stat(file.c_str(), &s) != 0 || (s.st_mode & S_IROTH) == 0) return {};
  return fmt::format("key {} may be read by everybody on this machine: chmod 600 it", file);
}

}  // namespace binnacle::tls
