#include "aggregator/settings/part_options.hpp"

#include "aggregator/kube/reviews/service_account.hpp"
#include "aggregator/policy/cost/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace binnacle::aggregator {
namespace {

constexpr std::size_t mib(std::int64_t count) { return static_cast<std::size_t>(count) << 20; }

/// The user name of the service account "namespace/name", the form of agents-account.
std::string user_of(const std::string& account) {
  const auto slash = account.find('/');
  return kube::user_of_service_account(account.substr(0, slash), account.substr(slash + 1));
}

}  // namespace

core_options core_options_of(const settings& s) {
  core_options out;
  out.limits.nodes = static_cast<std::size_t>(s.max_nodes);
  out.policies.label_namespaces = s.label_namespaces;
  out.policies.label_prefix = s.label_prefix;
  if (!s.default_max_nodes.empty())
    out.policies.default_max_nodes = policy::parse_node_limit(s.default_max_nodes).value();
  out.costs.memory_bytes = mib(s.policy_memory_mib);
  out.costs.columns = static_cast<std::uint64_t>(s.policy_columns);
  out.costs.label_keys = static_cast<std::uint64_t>(s.policy_label_keys);
  out.costs.rules = static_cast<std::uint64_t>(s.policy_rules);
  out.costs.evaluations = static_cast<std::uint64_t>(s.policy_evaluations) * 1'000'000;
  if (!s.state.empty() || !s.state_from.empty())
    out.snapshot_bytes = policy::keep_for_snapshots(out.costs, !s.state_from.empty());
  out.costs.policy_percent = static_cast<unsigned>(s.policy_percent);
  out.costs.namespace_percent = static_cast<unsigned>(s.namespace_percent);
  out.in_cluster = s.mode() == deployment_mode::in_cluster;
  return out;
}

kube::policy_room::limits policy_room_of(const settings& s) {
  kube::policy_room::limits out;
  out.objects = static_cast<std::size_t>(s.policy_objects);
  out.namespace_percent = static_cast<unsigned>(s.namespace_percent);
  return out;
}

ingest::ingest_options ingest_options_of(const settings& s, const descriptor_plan& room) {
  ingest::ingest_options out;
  out.address = s.address;
  out.port = static_cast<std::uint16_t>(s.ingest_port);
  out.cluster = s.cluster;
  out.agents_uri_prefix = s.agents_uri_prefix;
  out.replica_id = s.replica_id;
  out.replicas = static_cast<std::uint16_t>(s.replicas);
  out.max_sessions = std::min(static_cast<std::size_t>(s.max_nodes), room.agents);
  out.handshake_queue = room.agents_queue;
  if (!s.agents_account.empty()) {
    out.agents_account = user_of(s.agents_account);
    out.origin = s.token_origin;
  }
  return out;
}

extender::options extender_options_of(const settings& s) {
  extender::options out;
  out.scores = s.score;
  return out;
}

sender::settings sender_settings_of(const settings& s, const sender_settings& e) {
  const auto& d = sender::dialect_of(e.speaks);
  sender::settings out;
  out.speaks = e.speaks;
  out.version = e.version;
  out.to = http::parse_destination(e.url, d.setting, d.example).value();
  out.who = {{e.cert, e.key, e.ca}, e.user, e.token};
  out.with = {e.headers, e.headers_file};
  out.from.cluster = s.cluster;
  if (e.by == replicas_that_send::each) out.from.replica = s.replica_id;
  out.families = e.families;
  out.most_bytes = mib(e.memory_mib);
  return out;
}

decision::ring_limits ring_limits_of(const settings& s) {
  decision::ring_limits out;
  out.bytes = mib(s.decision_memory_mib);
  return out;
}

std::vector<endpoint> other_replicas_of(const settings& s) {
  std::vector<endpoint> out;
  for (const std::string& at : s.state_from)
    out.push_back(read_endpoint(at, settings::usual_ops_port).value());
  return out;
}

tls::options tls_for_agents(const settings& s) {
  tls::options out;
  out.side = tls::role::server;
  out.pem = {s.cert, s.key, s.agents_ca, s.denied_serials};
  const bool tokens = !s.agents_account.empty();
  out.clients = s.agents_ca.empty() ? tls::client_certificate::none
                : tokens            ? tls::client_certificate::optional
                                    : tls::client_certificate::required;
  out.tls13_only = true;
  out.alpn = "binnacle/1";
  return out;
}

tls::options tls_for_callers(const settings& s, tls::client_certificate clients) {
  tls::options out;
  out.side = tls::role::server;
  out.pem = {s.cert, s.key, s.clients_ca, s.denied_serials};
  out.clients = clients;
  return out;
}

tls::options tls_between_replicas(const settings& s) {
  tls::options out;
  out.side = tls::role::client;
  out.pem = {s.cert, s.key, ""};
  out.servers = tls::trust::ourselves;
  out.tls13_only = true;
  return out;
}

}  // namespace binnacle::aggregator
