#pragma once

#include <string>

typedef struct ssl_ctx_st SSL_CTX;

namespace binnacle::tls {

/// If the context's own certificate has ended or is not valid yet: a sentence that says so, with the remedy
/// ("certificate "n1" ended on …"). Empty if it is valid, or if there is none.
std::string out_of_date(SSL_CTX* context);

/// A sentence if every user of this machine may read the private key in `file`. Empty if not, or if there is
/// no such file. Blocks for a stat(2).
std::string exposed_key(const std::string& file);

}  // namespace binnacle::tls
