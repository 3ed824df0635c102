#pragma once

#include "common/clock.hpp"
#include "common/http/health.hpp"

#include <cstddef>
#include <functional>
#include <utility>

namespace binnacle::callers {
class gatekeeper;
}
namespace binnacle::policy {
class view;
}

namespace binnacle::aggregator {

class cluster;
struct ingest_report;

/// Whether this replica is ready, as /readyz reports it: it knows the policies, most nodes and the
/// authorities of callers, it judges, and it was not told to stop. Threads: the faces loop.
class readiness {
 public:
  /// How long after its start a replica waits for the agents of that many nodes. `others`: another replica
  /// gave its state, so there are agents, but they may not know the new replica's address yet.
  static duration waits_for_agents(std::size_t nodes, bool others) noexcept;

  /// What the checks look at. These objects must outlive it and its checks.
  struct sources {
    const policy::view& nodes;
    const ingest_report& ingest;
    const cluster* kubernetes;        ///< null: standalone
    const callers::gatekeeper* gate;  ///< null: standalone
    bool asks_replicas;               ///< for their state, at the start
    instant started;
    std::function<void()> fleet_has_come;  ///< called once, when agents are no longer waited for
  };

  explicit readiness(sources from) : from_(std::move(from)) {}

  http::health checks();
  /// Makes the replica not ready from now on.
  void stop() noexcept { stopping_ = true; }
  /// Whether all policies are known and the agents' values are judged by them.
  bool judges();

 private:
  bool knows_most_nodes();
  bool has_agents();

  const sources from_;
  bool stopping_ = false;
  bool agents_came_ = false;
  bool said_so_ = false;
};

}  // namespace binnacle::aggregator
