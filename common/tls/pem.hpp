#pragma once

#include "common/error.hpp"

#include <openssl/types.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

// Private to this room.
namespace binnacle::tls {

using certificate_ptr = std::unique_ptr<X509, decltype(&X509_free)>;
using bio_ptr = std::unique_ptr<BIO, decltype(&BIO_free)>;

/// A BIO that reads `text`, which must outlive it.
bio_ptr bio_over(const std::string& text);

/// For every PEM_read_bio_…(). Without this callback OpenSSL would ask for a passphrase on the daemon's
/// terminal.
int no_passphrase(char*, int, int, void*);

/// The certificates of a PEM text, in order; other content is skipped. Errors: invalid_input (no certificate,
/// or one that cannot be read); the message is worded to follow "FILE holds ".
result<std::vector<certificate_ptr>> certificates_in(const std::string& text);

}  // namespace binnacle::tls
