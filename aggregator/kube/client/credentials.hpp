#pragma once

#include "aggregator/kube/client/access.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"

#include <memory>
#include <string>

namespace binnacle::kube {

/// As whom we speak to an API server: a fixed token, one in a file that is rotated, a certificate, or what an
/// exec plug-in gives. Include from .cpp files only. Threads: one loop.
class credentials {
 public:
  /// Reads certificates. Errors: each names the file and the remedy.
  static result<std::shared_ptr<credentials>> open(access to, logger log);
  ~credentials();

  /// Brings the credentials up to date: reads the file, or runs the plug-in, if they may have expired. A
  /// failure is logged once, and the old credentials stay in use. The plug-in runs for 30 s at most, however
  /// long a caller waits: if it were ended after a caller's few seconds it might never give anything. Callers
  /// wait for it until `until`. Errors: timeout, if it has not ended by then.
  async::task<result<void>> refresh(async::deadline until);
  /// The server answered 401. True: it is worth trying again.
  bool refused();

  /// The bearer token, or empty.
  const std::string& token() const noexcept;
  /// As whom: with the certificate of the plug-in, where it gives one.
  const access& shown() const noexcept;
  /// For a new connection; null: plain HTTP.
  std::shared_ptr<SSL_CTX> tls();

 private:
  struct impl;
  struct waiter;
  struct plugin_run;
  explicit credentials(std::shared_ptr<impl> i);
  static async::task<void> run_to_end(std::shared_ptr<impl> self);
  std::shared_ptr<impl> impl_;  // and the plug-in's that runs
};

}  // namespace binnacle::kube
