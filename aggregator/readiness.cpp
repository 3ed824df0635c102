#include "aggregator/readiness.hpp"

#include "aggregator/callers/gatekeeper.hpp"
#include "aggregator/cluster.hpp"
#include "aggregator/ingest_report.hpp"
#include "aggregator/policy/published/view.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace binnacle::aggregator {
namespace {

// How long to wait for things that may never come: agents that are not installed yet, or an API server that
// names no authorities.
constexpr duration patience = std::chrono::seconds(30);
// How long to wait if there are other replicas: agents look names up every ten seconds, and a name server may
// go on giving old answers for half a minute (the Corefile of kubeadm: ttl 30, cache 30).
constexpr duration patience_beside_others = std::chrono::seconds(90);

bool is_connected(const auto& node) { return node.second->connected; }

}  // namespace

// The 10 ms for each node are for its handshake, which takes 1 ms of the ingest loop, or several if the loop
// has less than a whole CPU.
duration readiness::waits_for_agents(std::size_t nodes, bool others) noexcept {
  return (others ? patience_beside_others : patience) +
         static_cast<std::int64_t>(nodes) * std::chrono::milliseconds(10);
}

/// Whether the agents of most nodes have been connected at one moment. Once true it stays true: a node that
/// dies later must not take the whole replica out of service.
bool readiness::knows_most_nodes() {
  if (agents_came_ || !from_.kubernetes->nodes_read()) return agents_came_;
  const auto connected =
      std::ranges::count_if(from_.nodes.nodes(), [](const auto& n) { return is_connected(n); });
  agents_came_ = 10 * static_cast<std::size_t>(connected) >= 9 * from_.kubernetes->node_objects();
  return agents_came_;
}

/// Whether agents are no longer waited for. From then on the scheduler may ask us, and a node without data
/// counts as a node of which nothing is known.
bool readiness::has_agents() {
  const cluster* const kubernetes = from_.kubernetes;
  if (kubernetes == nullptr || said_so_) return true;
  const bool others = from_.ingest.began.from == beginning::origin::replica;
  const duration patience_here = waits_for_agents(kubernetes->node_objects(), others);
  if (!knows_most_nodes() && boot_clock::now() - from_.started <= patience_here) return false;
  said_so_ = true;
  from_.fleet_has_come();
  return true;
}

bool readiness::judges() {
  if (from_.kubernetes != nullptr) return from_.kubernetes->policies_judged() && knows_most_nodes();
  return std::ranges::any_of(from_.nodes.nodes(), [](const auto& n) { return is_connected(n); });
}

http::health readiness::checks() {
  http::health out;
  out.add("ping", [] { return true; });
  out.add_ready(
      "not-stopping", [this] { return !stopping_; }, "it was told to stop");
  const auto wait_for = [this](auto arrived) {
    return [this, arrived] { return arrived() || boot_clock::now() - from_.started > patience; };
  };
  out.add_ready(
      "state", [this] { return !from_.asks_replicas || from_.ingest.began.is_decided; },
      "the other replicas are being asked for their state, for 10 s at most");
  const cluster* const kubernetes = from_.kubernetes;
  // A fresh replica without policies would pass every node, for as long as the API server is away. So would
  // one without values, while another replica still has them. So it is not ready.
  out.add_ready(
      "policies",
      [this, kubernetes] {
        if (kubernetes != nullptr) return kubernetes->policies_judged();
        // A replica that asks no other one has read the folder before it serves anything.
        return !from_.asks_replicas || from_.ingest.policies_read;
      },
      kubernetes == nullptr ? "the policy folder has not been read yet"
                            : "the policies are not read from the API server and judged yet");
  // Without this check nobody would notice: outdated verdicts look like verdicts that have not changed.
  out.add_ready(
      "judging", [this] { return !from_.nodes.judging_stopped(boot_clock::now()); },
      "nothing has been judged for more than five seconds: the ingest loop is stuck");
  out.add_ready(
      "nodes", [kubernetes] { return kubernetes == nullptr || kubernetes->nodes_read(); },
      "the nodes are not read from the API server yet");
  out.add_ready(
      "agents", [this] { return has_agents(); },
      "agents of nine nodes in ten have not connected yet; this is waited for until 30 s after the start "
      "(90 s where another replica gave its state), and 1 s longer for every 100 nodes");
  // A replica that would refuse the API server's own calls is not ready either.
  out.add_ready("authentication",
                wait_for([gate = from_.gate] { return gate == nullptr || gate->informed(); }),
                "the API server has not said yet which certificates it takes; this is waited for until 30 s "
                "after the start");
  return out;
}

}  // namespace binnacle::aggregator
