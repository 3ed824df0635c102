#pragma once

#include "aggregator/config.hpp"
#include "aggregator/ingest_loop.hpp"
#include "common/error.hpp"
#include "common/log.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace binnacle::async {
class task_group;
}

namespace binnacle::aggregator {

/// The aggregator's business with the Kubernetes API, on the faces loop: policies from TASPolicy objects.
/// Nothing of it is waited for by anybody: what an API server says late or never changes only what is known.
class cluster {
 public:
  struct report {
    std::string url;
    bool policies_read = false;  ///< all of them, once since the start
    std::size_t policies = 0;
    std::string trouble;  ///< why policies may be out of date; empty: they are not
    std::uint64_t calls = 0, refused = 0, broken = 0, lists = 0;
  };

  /// Reads the kubeconfig or the service account's files. Errors: one sentence with the remedy.
  static result<std::unique_ptr<cluster>> open(const settings& s, logger log);
  ~cluster();

  /// Follows the API server until `tasks` ends; policies go to `writer`.
  void start(async::task_group& tasks, ingest_loop& writer);
  report state() const;

 private:
  struct impl;
  explicit cluster(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::aggregator
