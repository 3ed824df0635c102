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

/// `text` to be read, which must stay.
bio_ptr bio_over(const std::string& text);

/// For every PEM_read_bio_…(): without a callback OpenSSL asks for a passphrase on the terminal of a daemon.
int no_passphrase(char*, int, int, void*);

/// The certificates of a PEM text, in its order; whatever else is in it is passed over. Errors: invalid_input
/// (none, or one that cannot be read), to be put behind "FILE holds ".
result<std::vector<certificate_ptr>> certificates_in(const std::string& text);

}  // namespace binnacle::tls
