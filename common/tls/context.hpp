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
  optional,  ///< asked for; a connection without one is served, its request has no identity
  required,  ///< the handshake fails without a valid one
};

enum class trust : unsigned char {
  authority,  ///< servers whose certificate the given authority signed
  system,     ///< those that this machine's authorities vouch for
  anybody,    ///< no check at all: a kubeconfig's insecure-skip-tls-verify
  ourselves,  ///< those that have our own private key: replicas that share one certificate
};

/// PEM file names. For a server `authority` verifies clients, for a client it verifies the server.
struct files {
  std::string certificate;
  std::string key;
  std::string authority;
  /// Server: serial numbers that clients may not show (denied_serials.hpp); empty: all may.
  std::string denied = {};
};

struct options {
  role side = role::server;
  files pem;
  client_certificate clients = client_certificate::required;  ///< server only
  bool tls13_only = false;  ///< the agents' port; HTTP also takes 1.2 with ECDHE and AEAD (old Go clients)
  std::string alpn;         ///< "binnacle/1", "http/1.1", or empty: none offered, none refused
  trust servers = trust::authority;  ///< client only
  files text;                        ///< PEM text in place of a file: a kubeconfig's "…-data"
};

/// A TLS context that follows its files: reload_if_changed() looks at them (by path, so Kubernetes' symlink
/// swaps are seen) and builds a new SSL_CTX when any changed; connections made before keep theirs. A broken
/// new file is an error once and trouble() until it is mended, one that cannot be read now is tried again;
/// the last good context stays.
/// Threads: one loop; current() may be kept by connections.
class context {
 public:
  /// Errors: invalid_input (not PEM, key does not fit the certificate), not_found, permission; each names the
  /// file and remedy.
  static result<std::unique_ptr<context>> load(options o);

  std::shared_ptr<SSL_CTX> current() const noexcept { return current_; }
  /// Blocks for a few stat(2) calls. True when a new certificate is in force.
  result<bool> reload_if_changed();
  /// Why the newest files are not in force, in one sentence; empty when they are.
  const std::string& trouble() const noexcept { return trouble_; }
  /// `then` is called by reload_if_changed() whenever new files are in force.
  void on_reload(std::function<void()> then) { told_.push_back(std::move(then)); }
  /// Whether the client of a connection that this context or an earlier version of it was used for showed a
  /// serial number that is denied now, or was refused for one.
  bool denies(SSL* connection) const;
  /// Seconds until the own certificate ends; negative when it has. For metrics and warnings.
  long seconds_left() const;
  /// Less than a tenth of the certificate's time is left: it should have been renewed by now.
  bool ends_soon() const;

 private:
  explicit context(options o) : options_(std::move(o)) {}
  options options_;
  std::shared_ptr<SSL_CTX> current_;
  /// Of certificate, key, authority and denied serial numbers as last read; nothing: they could not be read.
  std::optional<std::array<std::optional<file_stamp>, 4>> stamps_;
  std::vector<std::function<void()>> told_;
  std::string trouble_;
};

/// The verified peer certificate of an established connection; empty optional-like common_name and names when
/// there is none.
bool peer_identity(SSL* connection, identity& out);

/// One sentence for the newest OpenSSL error of this thread, and clears the queue.
std::string last_error();

}  // namespace binnacle::tls
