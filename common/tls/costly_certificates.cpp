#include "common/tls/costly_certificates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace binnacle::tls {
namespace {

using octets = std::span<const unsigned char>;
using namespace std::string_view_literals;

/// Takes parts from the front of bytes. Once something is not as expected, it has nothing more to give.
class reader {
 public:
  explicit reader(octets b) : rest_(b) {}
  bool empty() const { return rest_.empty(); }
  unsigned char front() const { return rest_.empty() ? 0 : rest_.front(); }

  octets take(std::size_t size) {
    if (size > rest_.size()) return fail();
    const octets out = rest_.first(size);
    rest_ = rest_.subspan(size);
    return out;
  }
  /// A number of so many bytes.
  std::size_t number(std::size_t size) {
    std::size_t out = 0;
    for (const unsigned char b : take(size)) out = out << 8 | b;
    return out;
  }
  /// What follows its own length, as TLS writes it.
  octets counted(std::size_t size_of_length) { return take(number(size_of_length)); }
  /// The content of an element of DER with this tag. BER's lengths that are not known in advance are no DER.
  octets element(unsigned char tag) {
    if (front() != tag) return fail();
    take(1);
    const std::size_t length = number(1);
    if (length < 0x80) return take(length);
    return length == 0x80 || length > 0x83 ? fail() : counted(length - 0x80);
  }
  bool failed() const { return failed_; }

 private:
  octets fail() {
    failed_ = true;
    rest_ = {};
    return {};
  }
  octets rest_;
  bool failed_ = false;
};

constexpr unsigned char integer = 0x02, bit_string = 0x03, object = 0x06, sequence = 0x30, version = 0xa0;
constexpr std::size_t most_rsa = 8192 / 8, most_exponent = 4;
constexpr unsigned char uncompressed = 4;

// The contents of object identifiers in DER.
constexpr auto rsa = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"sv;      // rsaEncryption
constexpr auto rsa_pss = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a"sv;  // id-RSASSA-PSS
constexpr auto ec = "\x2a\x86\x48\xce\x3d\x02\x01"sv;               // id-ecPublicKey
constexpr auto ed25519 = "\x2b\x65\x70"sv;
constexpr auto ed448 = "\x2b\x65\x71"sv;
constexpr std::array curves{"\x2a\x86\x48\xce\x3d\x03\x01\x07"sv, "\x2b\x81\x04\x00\x22"sv,
                            "\x2b\x81\x04\x00\x23"sv};  // P-256, P-384, P-521

std::string_view as_text(octets b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

std::string_view why_not(octets certificate) {
  constexpr std::string_view no_der = "that is not written as DER";
  reader whole(certificate);
  reader both(whole.element(sequence));
  reader fields(both.element(sequence));
  if (fields.front() == version) fields.element(version);
  fields.element(integer);                               // the serial number
  for (int i = 0; i < 4; ++i) fields.element(sequence);  // algorithm, issuer, dates, subject
  reader key(fields.element(sequence));
  reader algorithm(key.element(sequence));
  reader bits(key.element(bit_string));
  const std::string_view name = as_text(algorithm.element(object));
  bits.take(1);  // how many bits the last byte lacks
  if (algorithm.failed() || bits.failed()) return no_der;

  if (name == rsa || name == rsa_pss) {
    reader numbers(bits.element(sequence));
    const octets modulus = numbers.element(integer), exponent = numbers.element(integer);
    if (numbers.failed()) return no_der;
    // The first byte may be a zero, for the sign.
    if (modulus.size() > most_rsa + 1) return "with an RSA key of more than 8192 bits";
    return exponent.size() > most_exponent + 1 ? "with an RSA key whose exponent is too large" : ""sv;
  }
  if (name == ec) {
    if (std::find(curves.begin(), curves.end(), as_text(algorithm.element(object))) == curves.end())
      return "with a key on another curve than P-256, P-384 or P-521";
    return bits.front() != uncompressed ? "with a compressed key" : ""sv;
  }
  return name == ed25519 || name == ed448 ? ""sv : "with a key that is not RSA, ECDSA, Ed25519 or Ed448"sv;
}

}  // namespace

std::string too_costly(std::span<const unsigned char> message, bool is_tls13) {
  reader in(message);
  in.take(4);                   // the type and the length of the message
  if (is_tls13) in.counted(1);  // the context of the request
  reader chain(in.counted(3));
  int shown = 0;
  while (!chain.empty()) {
    const octets certificate = chain.counted(3);
    if (is_tls13) chain.counted(2);  // extensions
    if (chain.failed()) break;
    if (++shown > most_certificates)
      return fmt::format("the peer showed more than {} certificates", most_certificates);
    if (const auto why = why_not(certificate); !why.empty())
      return fmt::format("the peer showed a certificate {}", why);
  }
  return in.failed() || chain.failed() ? "the peer's chain of certificates is malformed" : "";
}

}  // namespace binnacle::tls
