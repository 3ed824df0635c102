#pragma once

#include "cli/connection.hpp"
#include "common/error.hpp"

#include <memory>

namespace binnacle::cli::bridge {

/// The way to the aggregators of a cluster: `kubectl port-forward` runs for each replica, on a port of
/// 127.0.0.1, for as long as this object lives. A forward that ends is begun again at the same port, to the
/// pod that is there then. All waits are on a thread of its own.
class way {
 public:
  /// Asks kubectl for Service and pods, and for the CA in the chart's Secret unless `given` names one; shows
  /// the kubeconfig's own identity (token, certificate, exec plug-in) unless `given` has another. Blocks
  /// until each replica can be reached or has said why not, for a minute at most. Errors: not_found (no
  /// kubectl, no Service), permission (with kubectl's words: which right is missing), timeout, invalid_input.
  static result<std::unique_ptr<way>> open(const connection& given);
  ~way();
  way(const way&) = delete;
  way& operator=(const way&) = delete;

  /// What reaches the replicas. Its files are good as long as this object lives; a token in one is replaced
  /// before it ends.
  const connection& to() const noexcept;

 private:
  struct impl;
  explicit way(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::cli::bridge
