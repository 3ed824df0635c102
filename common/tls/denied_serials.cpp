#include "common/tls/denied_serials.hpp"

#include "common/text/text.hpp"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace binnacle::tls {
namespace {

constexpr std::size_t longest_serial = 40;  // digits: 20 bytes. Source: RFC 5280 4.1.2.2

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// The serial number in the form in which serial numbers are compared; empty if `written` is not one.
std::string as_serial(std::string_view written) {
  std::string out = lowered(written);
  if (out.starts_with("serial=")) out.erase(0, 7);
  std::erase(out, ':');
  if (out.empty() || !std::ranges::all_of(out, is_hex_digit)) return {};
  out.erase(0, std::min(out.find_first_not_of('0'), out.size() - 1));
  return out.size() <= longest_serial ? out : std::string();
}

}  // namespace

std::string serial_of(const X509* certificate) {
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(
      ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr), &BN_free);
  if (!number) return {};
  char* const digits = BN_bn2hex(number.get());
  if (digits == nullptr) return {};
  std::string out = as_serial(digits);
  OPENSSL_free(digits);
  return out;
}

result<denied_serials> denied_serials::read(std::string_view text, std::string_view name) {
  denied_serials out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    std::string serial = as_serial(line);
    if (serial.empty()) {
      return error{errc::invalid_input,
                   fmt::format("line {} of {} is no serial number: write hexadecimal digits, as openssl x509 "
                               "-noout -serial prints them, and not {}",
                               number, name, in_quotes(line, 80))};
    }
    out.all_.insert(std::move(serial));
  }
  return out;
}

bool denied_serials::contains(const X509* certificate) const {
  return certificate != nullptr && !all_.empty() && all_.contains(serial_of(certificate));
}

}  // namespace binnacle::tls
