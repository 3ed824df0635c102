#pragma once

#include "cli/connection.hpp"
#include "common/error.hpp"

#include <iosfwd>
#include <memory>

namespace binnacle::cli::bridge {

/// A way to the aggregators of a cluster. As long as this object lives, one `kubectl port-forward` runs for
/// each replica, on a port of 127.0.0.1. If a forward ends, it is started again on the same port, to a pod
/// that runs then. All waiting is done on a thread of this object.
class way {
 public:
  /// Asks kubectl for the Service and the pods, and for the CA in the chart's APIService, or else its Secret,
  /// unless `given` names one. Uses the kubeconfig's own identity (its certificate, or else its token;
  /// perhaps by an exec plug-in) unless `given` has another. To a server that only the Secret vouches for no
  /// token goes: if the kubeconfig has no certificate, that of the Secret is used. Blocks until each replica
  /// can be reached or has said why not, for a minute at most. To a `person` (null: nobody waits at a
  /// terminal) it shows what kubectl says, and gives three minutes more to log in. Errors: not_found (no
  /// kubectl, no Service, the chart is elsewhere), permission (a token that may not go there; or with
  /// kubectl's words, which name the missing right), timeout, invalid_input.
  static result<std::unique_ptr<way>> open(const connection& given, std::ostream* person);
  ~way();
  way(const way&) = delete;
  way& operator=(const way&) = delete;

  /// The addresses, CA and identity with which commands reach the replicas. Its files exist as long as this
  /// object lives; a token in one of them is replaced before it expires.
  const connection& to() const noexcept;

 private:
  struct impl;
  explicit way(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::cli::bridge
