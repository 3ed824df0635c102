#pragma once

#include "common/error.hpp"
#include "common/log/log.hpp"
#include "common/system/file_stamp.hpp"
#include "common/tls/identity.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;

namespace binnacle::tls {

enum class role : unsigned char { client, server };
enum class client_certificate : unsigned char {
  none,      ///< not asked for
  optional,  ///< asked for; without one the connection is served, and its requests have no identity
  required,  ///< the handshake fails without a valid one
};

enum class trust : unsigned char {
  authority,  ///< servers whose certificate the given authority signed
  system,     ///< servers that an authority of this machine signed
  anybody,    ///< no check at all: a kubeconfig's insecure-skip-tls-verify
  ourselves,  ///< those that have our own private key: replicas with one shared certificate
};

/// Names of PEM files. A server verifies its clients by `authority`, a client its server.
struct files {
  std::string certificate;
  std::string key;
  std::string authority;
  /// Server: a file of serial numbers that clients may not show (denied_serials.hpp); empty: none.
  std::string denied = {};
};

struct options {
  role side = role::server;
  files pem;
  client_certificate clients = client_certificate::required;  ///< server only
  bool tls13_only = false;  ///< the agents' port; HTTP also takes 1.2 with ECDHE and AEAD (old Go clients)
  std::string alpn;         ///< "binnacle/1", "http/1.1", or empty: none offered, none refused
  trust servers = trust::authority;  ///< client only
  files text;                        ///< PEM text in place of the files: a kubeconfig's "…-data"
};

/// A TLS context that follows its files. reload_if_changed() looks at them by path, so it sees how Kubernetes
/// swaps symlinks. If a file has changed, it builds a new SSL_CTX; connections made before keep the old one.
/// A broken new file is reported as an error once, and by trouble() until it is mended. A file that cannot be
/// read now is tried again. Meanwhile the last good context stays in force. Threads: one loop; connections
/// may keep current().
class context {
 public:
  /// Errors: invalid_input (not PEM, key does not fit the certificate), not_found, permission; each names the
  /// file and remedy.
  static result<std::unique_ptr<context>> load(options o);

  std::shared_ptr<SSL_CTX> current() const noexcept { return current_; }
  /// Blocks: a few calls of stat(2), and reading the files if they have changed. True if new files are in
  /// force now.
  result<bool> reload_if_changed();
  /// Why the newest files are not in force, in one sentence; empty when they are.
  const std::string& trouble() const noexcept { return trouble_; }
  /// `then` is called by reload_if_changed() each time new files come into force.
  void on_reload(std::function<void()> then) { told_.push_back(std::move(then)); }
  /// Whether the client showed a serial number that is denied now, or was refused for one. The connection may
  /// have been made with an earlier version of this context.
  bool denies(SSL* connection) const;
  /// Seconds until our own certificate ends; negative if it has ended. For metrics and warnings.
  long seconds_left() const;
  /// True if less than a tenth of the certificate's time is left. It should have been renewed by then.
  bool ends_soon() const;

 private:
  explicit context(options o) : options_(std::move(o)) {}
  options options_;
  std::shared_ptr<SSL_CTX> current_;
  /// Stamps of certificate, key, authority and denied serial numbers as last read; nothing if they could not
  /// be read.
  std::optional<std::array<std::optional<file_stamp>, 4>> stamps_;
  std::vector<std::function<void()>> told_;
  std::string trouble_;
};

/// Fills `out` from the verified peer certificate of an established connection. False if there is none; `out`
/// has no names then.
bool peer_identity(SSL* connection, identity& out);

/// The newest OpenSSL error of this thread in one sentence. Clears the queue of errors.
std::string last_error();

}  // namespace binnacle::tls
