#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace binnacle::tls {

/// How many certificates a client may show.
constexpr int most_certificates = 10;
/// Bytes of the message that has them. To read a certificate takes OpenSSL about 0.2 ms, and 0.25 ms more for
/// each KiB of names and extensions.
constexpr std::size_t most_chain = std::size_t{32} << 10;

/// Why OpenSSL must not read the certificates in `message`, which is a message of the handshake (type
/// Certificate) with its header; empty: it may. OpenSSL decodes the key of each certificate as soon as it
/// reads it, long before it looks who signed it. A key on a curve with parameters of its own can be made so
/// that this takes 0.3 s, and a message has room for a hundred. So only the usual keys are read: RSA of up to
/// 8192 bits with a small exponent; ECDSA on P-256, P-384 or P-521, not compressed; Ed25519 and Ed448.
std::string too_costly(std::span<const unsigned char> message, bool is_tls13);

}  // namespace binnacle::tls
