#pragma once

#include "aggregator/kube/client/access.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"

#include <memory>
#include <string>

namespace binnacle::kube {

/// Our identity for an API server: a fixed token, a token in a file that is rotated, a certificate, or what
/// an exec plug-in prints. Include from .cpp files only. Threads: one loop.
class credentials {
 public:
  /// Reads certificates. Errors: each names the file and the remedy.
  static result<std::shared_ptr<credentials>> open(access to, logger log);
  ~credentials();

  /// Brings the credentials up to date: reads the file, or runs the plug-in, if they may have expired. A
  /// failure is logged once, and the old credentials stay in use. The plug-in may run for 30 s, even if
  /// callers give up earlier: if it were stopped after a caller's few seconds, it might never finish. A
  /// caller waits for it until `until`. Errors: timeout, if it has not ended by then.
  async::task<result<void>> refresh(async::deadline until);
  /// Call it when the server has answered 401. True: another try may succeed.
  bool refused();

  /// The bearer token, or empty.
  const std::string& token() const noexcept;
  /// The access in use, with the certificate from the plug-in if there is one.
  const access& shown() const noexcept;
  /// For a new connection; null: plain HTTP.
  std::shared_ptr<SSL_CTX> tls();

 private:
  struct impl;
  struct waiter;
  struct plugin_run;
  explicit credentials(std::shared_ptr<impl> i);
  static async::task<void> run_to_end(std::shared_ptr<impl> self);
  std::shared_ptr<impl> impl_;  // shared with the task that runs the plug-in
};

}  // namespace binnacle::kube
