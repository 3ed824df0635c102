#pragma once

#include "aggregator/callers/gatekeeper.hpp"
#include "aggregator/cluster.hpp"
#include "aggregator/loop_messages.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/clock.hpp"
#include "common/http/health.hpp"

#include <cstddef>
#include <functional>
#include <utility>

namespace binnacle::aggregator {

/// Whether this replica may be asked, as /readyz says it: it knows the policies, most nodes and whom to let
/// in, it judges, and it was not told to stop. Threads: the faces loop.
class readiness {
 public:
  /// How long after its start a replica waits for the agents of that many nodes. `others`: another replica
  /// gave its state, so agents are there, and only the new address may be unknown to them.
  static duration waits_for_agents(std::size_t nodes, bool others) noexcept;

  /// What it looks at; must outlive it and its checks.
  struct sources {
    const policy::view& nodes;
    const ingest_report& ingest;
    const cluster* kubernetes;        ///< null: standalone
    const callers::gatekeeper* gate;  ///< likewise
    bool asks_replicas;               ///< for their state, at the start
    instant started;
    std::function<void()> fleet_has_come;  ///< called once, when agents are no longer waited for
  };

  explicit readiness(sources from) : from_(std::move(from)) {}

  http::health checks();
  /// From now on it is not ready.
  void stop() noexcept { stopping_ = true; }
  /// Whether all policies are known and what agents say is judged by them.
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
