#include "aggregator/own_metrics.hpp"

#include "aggregator/extender/counters.hpp"
#include "aggregator/ops/own_metrics_text.hpp"
#include "aggregator/outliers/power_outliers.hpp"
#include "aggregator/policy/engine/judge.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/system/process_cost.hpp"

#include <map>
#include <span>
#include <string_view>

namespace binnacle::aggregator {
namespace {

using ops::own_sample;

class collector {
 public:
  void add(const char* family, std::uint64_t value, metrics::label_set labels = {}) {
    out.push_back({family, std::move(labels), value});
  }
  void add(const char* family, double value, metrics::label_set labels = {}) {
    out.push_back({family, std::move(labels), value});
  }

  template <std::size_t N>
  void add(const char* family, const metrics::histogram<N>& h, double per_unit,
           metrics::label_set labels = {}) {
    out.push_back({family, std::move(labels), ops::in_units(h, per_unit)});
  }

  std::vector<own_sample> out;
};

void add_process(collector& c) {
  c.add("binnacle_aggregator_info", std::uint64_t{1}, {{"version", BINNACLE_VERSION}});
  const process_cost cost = own_cost();
  c.add("binnacle_aggregator_cpu_seconds_total", cost.cpu_seconds);
  c.add("binnacle_aggregator_resident_bytes", cost.resident_bytes.value_or(0));
}

void add_state_of_replicas(collector& c, const beginning& began, const replicas::route_counters& route) {
  c.add("binnacle_state_origin_info", std::uint64_t{1},
        {{"origin", began.from == beginning::origin::replica ? "replica"
                    : began.from == beginning::origin::file  ? "file"
                                                             : "nothing"}});
  c.add("binnacle_state_asked_total", std::uint64_t{began.from == beginning::origin::replica},
        {{"outcome", "taken"}});
  c.add("binnacle_state_asked_total", began.refused, {{"outcome", "refused"}});
  c.add("binnacle_state_asked_total", began.failed, {{"outcome", "failed"}});
  c.add("binnacle_state_requests_total", route.given, {{"outcome", "given"}});
  c.add("binnacle_state_requests_total", route.strangers, {{"outcome", "no_replica"}});
  c.add("binnacle_state_requests_total", route.too_early, {{"outcome", "too_early"}});
  c.add("binnacle_state_requests_total", route.busy, {{"outcome", "busy"}});
}

void add_ingest(collector& c, const own_numbers& n) {
  std::uint64_t connected = 0;
  for (const auto& [name, node] : n.nodes.nodes()) connected += node->connected ? 1 : 0;
  c.add("binnacle_nodes", connected, {{"state", "connected"}});
  c.add("binnacle_nodes", static_cast<std::uint64_t>(n.nodes.nodes().size()) - connected,
        {{"state", "disconnected"}});
  c.add("binnacle_forgotten_nodes_total", n.ingest.store.forgotten);
  c.add("binnacle_state_writes_total", n.ingest.state.written);
  c.add("binnacle_state_write_failures_total", n.ingest.state.failed);
  c.add("binnacle_state_bytes", n.ingest.state.bytes);
  c.add("binnacle_state_left_out", n.ingest.state.left_out);
  add_state_of_replicas(c, n.ingest.began, n.state_route);
  c.add("binnacle_contested_nodes", static_cast<std::uint64_t>(n.ingest.contests.size()));

  const ingest::ingest_counters& s = n.ingest.sessions;
  c.add("binnacle_sessions", s.open);
  c.add("binnacle_handshakes_total", s.begun);
  c.add("binnacle_handshake_rate", s.handshake_rate);
  for (std::size_t i = 0; i < s.ended.size(); ++i) {
    const auto why = static_cast<wire::reason>(i);
    // A session that the peer itself closed was not refused.
    if (s.ended[i] == 0 || why == wire::reason::none || why == wire::reason::closed_by_peer) continue;
    c.add("binnacle_sessions_refused_total", s.ended[i], {{"reason", std::string(to_string(why))}});
  }
  c.add("binnacle_sessions_refused_total", s.handshake_failures, {{"reason", "handshake"}});
  c.add("binnacle_sessions_refused_total", s.denied.count, {{"reason", "denied"}});
  c.add("binnacle_sessions_refused_total", s.floods, {{"reason", "flood"}});
  c.add("binnacle_sessions_refused_total", s.silent, {{"reason", "silent"}});
  c.add("binnacle_sessions_refused_total", s.no_hello, {{"reason", "no_client_hello"}});
  c.add("binnacle_sessions_refused_total", s.left_line, {{"reason", "left"}});
  c.add("binnacle_sessions_refused_total", s.evicted, {{"reason", "evicted"}});
  c.add("binnacle_sessions_refused_total", s.rationed, {{"reason", "rationed"}});
  c.add("binnacle_frames_total", s.frames);
  c.add("binnacle_left_out_items_total", s.left_out);
  c.add("binnacle_samples_total", s.samples);
  c.add("binnacle_wire_bytes_total", s.bytes);
  c.add("binnacle_dropped_total", s.turned_away, {{"buffer", "handshake_queue"}});
  c.add("binnacle_dropped_total", n.decisions_dropped, {{"buffer", "decisions"}});
  c.add("binnacle_dropped_total", n.decisions_trimmed, {{"buffer", "decision_candidates"}});
  c.add("binnacle_dropped_total", n.placements_dropped, {{"buffer", "placements"}});
}

/// Adds how much is known of the nodes' watts, and from which source.
void add_power(collector& c, const own_numbers& n) {
  c.add("binnacle_power_outlier_nodes", static_cast<std::uint64_t>(n.outliers.size()));
  for (std::size_t i = 0; i < n.ingest.learning.size(); ++i) {
    c.add("binnacle_power_learning_samples_total", n.ingest.learning[i],
          {{"outcome", std::string(to_string(static_cast<predict::learner::outcome>(i)))}});
  }
  for (std::size_t i = 0; n.model_servers && i < n.model_servers->size(); ++i) {
    c.add("binnacle_model_server_calls_total", (*n.model_servers)[i],
          {{"outcome", std::string(to_string(static_cast<model_servers::call_outcome>(i)))}});
  }
  for (std::size_t i = 0; n.endpoint_providers && i < n.endpoint_providers->size(); ++i) {
    c.add("binnacle_endpoint_provider_calls_total", (*n.endpoint_providers)[i],
          {{"outcome", std::string(to_string(static_cast<model_servers::provider_outcome>(i)))}});
  }
}

/// The names of a protocol's metrics.
struct sender_names {
  const char *samples, *requests, *retries, *late_rounds, *waiting_bytes, *lag;
};
/// A switch, so that the compiler warns of a protocol without a case.
constexpr sender_names metric_names_of(sender::protocol by) {
  switch (by) {
    case sender::protocol::remote_write:
      return {"binnacle_remote_write_samples_total", "binnacle_remote_write_requests_total",
              "binnacle_remote_write_retries_total", "binnacle_remote_write_late_rounds_total",
              "binnacle_remote_write_waiting_bytes", "binnacle_remote_write_lag_seconds"};
    case sender::protocol::otlp:
      return {"binnacle_otlp_samples_total", "binnacle_otlp_requests_total",
              "binnacle_otlp_retries_total", "binnacle_otlp_late_rounds_total",
              "binnacle_otlp_waiting_bytes", "binnacle_otlp_lag_seconds"};
  }
  return {};
}

void add_sender(collector& c, const sender::report& r) {
  const sender_names n = metric_names_of(r.by);
  const sender::counters& w = r.numbers;
  c.add(n.samples, w.sent, {{"outcome", "sent"}});
  c.add(n.samples, w.refused, {{"outcome", "refused"}});
  c.add(n.samples, w.dropped, {{"outcome", "dropped"}});
  c.add(n.requests, w.requests);
  c.add(n.retries, w.retries);
  c.add(n.late_rounds, w.late_rounds);
  c.add(n.waiting_bytes, w.waiting_bytes);
  c.add(n.lag, std::chrono::duration<double>(w.lag).count());
}

void add_extender(collector& c, const extender::counters& x) {
  for (const decision::verb each : decision::all_verbs) {
    const std::string name(decision::to_string(each));
    const extender::verb_counters& v = x.of(each);
    for (std::size_t i = 0; i < v.answered.size(); ++i) {
      c.add(
          "binnacle_extender_requests_total", v.answered[i],
          {{"verb", name}, {"outcome", std::string(decision::to_string(static_cast<decision::outcome>(i)))}});
    }
    c.add("binnacle_extender_requests_total", v.bad_request, {{"verb", name}, {"outcome", "bad_request"}});
  }
  for (const decision::verb each : decision::all_verbs) {
    c.add("binnacle_extender_request_seconds", x.of(each).latency_us, 1e6,
          {{"verb", std::string(decision::to_string(each))}});
  }
  for (std::size_t i = 0; i < x.candidates.size(); ++i) {
    c.add("binnacle_decisions_total", x.candidates[i],
          {{"verdict", std::string(decision::to_string(static_cast<decision::candidate_outcome>(i)))}});
  }
  c.add("binnacle_scores_clamped_total", x.beyond);
  c.add("binnacle_scores_implausible_total", x.implausible);
  c.add("binnacle_decision_age_seconds", x.oldest_age_ms, 1e3);
}

void add_policies(collector& c, const own_numbers& n) {
  std::map<std::string_view, std::uint64_t> conditions;
  for (const policy::condition& held : n.ingest.conditions) ++conditions[policy::to_string(held.what)];
  for (const auto& [name, count] : conditions)
    c.add("binnacle_policy_conditions", count, {{"condition", std::string(name)}});
  const policy::cost_report& costs = n.ingest.costs;
  for (const policy::resource r : policy::all_resources) {
    const metrics::label_set what{{"resource", std::string(policy::to_string(r))}};
    c.add("binnacle_policy_cost", policy::amount_of(costs.all, r, costs.nodes), what);
    c.add("binnacle_policy_budget", costs.limits.of(r, policy::scope::all), what);
  }
  for (const reading_shares::line& l : n.ingest.readings.parties) {
    c.add("binnacle_readings_wished", l.wished, {{"namespace", l.party}});
    c.add("binnacle_readings_granted", l.granted, {{"namespace", l.party}});
  }
  c.add("binnacle_ingest_load_ratio", n.ingest.readings.load);
}

void add_kubernetes(collector& c, const cluster_report& k) {
  const auto calls = [&c](const char* outcome, std::uint64_t n) {
    c.add("binnacle_kubernetes_calls_total", n, {{"outcome", outcome}});
  };
  calls("answered", k.calls - k.refused - k.broken);
  calls("refused", k.refused);
  calls("broken", k.broken);
  c.add("binnacle_kubernetes_lists_total", k.lists);
  c.add("binnacle_kubernetes_members_left_out_total", k.members_left_out);
  const auto patches = [&c](const char* outcome, std::uint64_t n) {
    c.add("binnacle_node_patches_total", n, {{"outcome", outcome}});
  };
  patches("written", k.patches.written);
  patches("refused", k.patches.refused);
  patches("broken", k.patches.broken);
  c.add("binnacle_node_wakes_total", k.patches.woken);
  c.add("binnacle_foreign_labels", static_cast<std::uint64_t>(k.foreign_labels));
  c.add("binnacle_dropped_total", k.pods_left_out, {{"buffer", "pods"}});
  c.add("binnacle_dropped_total", k.pod_labels_left_out, {{"buffer", "pod_labels"}});
  c.add("binnacle_dropped_total", k.sets_left_out, {{"buffer", "replica_sets"}});
  c.add("binnacle_dropped_total", k.events_dropped, {{"buffer", "events"}});
  c.add("binnacle_dropped_total", k.wakes_dropped, {{"buffer", "wakes"}});
  c.add("binnacle_kubernetes_leads", std::uint64_t{k.leads});
  c.add("binnacle_kubernetes_synced", std::uint64_t{k.policies_read && k.troubles.empty()});
}

void add_callers(collector& c, const callers::gatekeeper_counters& g) {
  const auto each = [&c](const char* family, const char* outcome, std::uint64_t n) {
    c.add(family, n, {{"outcome", outcome}});
  };
  each("binnacle_callers_total", "let_in", g.let_in);
  each("binnacle_callers_total", "unauthorized", g.unauthorized);
  each("binnacle_callers_total", "rationed", g.rationed);
  each("binnacle_callers_total", "forbidden", g.forbidden);
  each("binnacle_callers_total", "unavailable", g.unavailable);
  each("binnacle_caller_reviews_total", "asked", g.asked);
  each("binnacle_caller_reviews_total", "remembered", g.remembered);
}

void add_tokens(collector& c, const callers::token_counters& t) {
  const auto each = [&c](const char* outcome, std::uint64_t n) {
    c.add("binnacle_agent_token_reviews_total", n, {{"outcome", outcome}});
  };
  each("asked", t.asked);
  each("remembered", t.remembered);
  each("vouched", t.vouched);
  each("failed", t.failed);
  each("turned_away", t.turned_away);
}

void add_servers(collector& c, const own_numbers& n) {
  const auto each = [&](const char* family, std::uint64_t http::server_counters::*member) {
    for (const ops::listener_report& l : n.listeners) c.add(family, l.counters.*member, {{"server", l.name}});
  };
  each("binnacle_http_connections_total", &http::server_counters::accepted);
  each("binnacle_http_requests_total", &http::server_counters::requests);
  each("binnacle_http_malformed_total", &http::server_counters::malformed);
  each("binnacle_http_timeouts_total", &http::server_counters::timeouts);
  each("binnacle_http_open", &http::server_counters::open);
  each("binnacle_http_most", &http::server_counters::most);
  for (const ops::listener_report& l : n.listeners) {
    for (const auto& [why, count] : l.counters.dropped())
      c.add("binnacle_http_dropped_total", count, {{"server", l.name}, {"reason", std::string(why)}});
  }
  for (const ops::certificate_report& f : n.certificates) {
    c.add("binnacle_certificate_remaining_seconds", static_cast<double>(f.seconds_left), {{"file", f.file}});
  }
  c.add("binnacle_tls_reload_failed",
        std::uint64_t{!n.certificate_troubles.empty() || !n.ingest.certificate_troubles.empty()});
}

}  // namespace

std::vector<ops::own_sample> own_metrics(const own_numbers& n) {
  collector c;
  add_process(c);
  add_ingest(c, n);
  add_power(c, n);
  add_extender(c, n.extender);
  add_policies(c, n);
  if (n.kubernetes) add_kubernetes(c, *n.kubernetes);
  if (n.kubernetes) c.add("binnacle_unregistered_nodes", static_cast<std::uint64_t>(n.without_object.size()));
  if (n.callers) add_callers(c, *n.callers);
  if (n.tokens) add_tokens(c, *n.tokens);
  for (const sender::report& r : n.sending) add_sender(c, r);
  add_servers(c, n);
  return std::move(c.out);
}

}  // namespace binnacle::aggregator
