#pragma once

namespace binnacle::tls {

/// The passphrase callback of every PEM that is read: without one OpenSSL would ask on the terminal of a
/// daemon.
inline int no_passphrase(char*, int, int, void*) { return 0; }

}  // namespace binnacle::tls
