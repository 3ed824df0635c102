#pragma once

#include <string>

typedef struct ssl_ctx_st SSL_CTX;

namespace binnacle::tls {

/// "certificate "n1" ended on …", or that it begins only later, with the remedy; empty while the context's
/// own certificate is valid, or when it has none.
std::string out_of_date(SSL_CTX* context);

/// A sentence if everybody on this machine may read the private key in `file`; empty otherwise, also when
/// there is no such file. Blocks for a stat(2).
std::string exposed_key(const std::string& file);

}  // namespace binnacle::tls
