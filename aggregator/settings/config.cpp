#include "aggregator/settings/config.hpp"

#include "aggregator/model_servers/allowed.hpp"
#include "aggregator/policy/policy.hpp"
#include "aggregator/sender/dialect.hpp"
#include "common/http/client/destination.hpp"
#include "common/http/client/more_headers.hpp"
#include "common/text/endpoint.hpp"
#include "common/text/label_syntax.hpp"
#include "common/text/text.hpp"
#include "common/wire/replicas.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

namespace binnacle::aggregator {
namespace {

/// Binds the settings of one protocol; both protocols have the same ones.
void bind_sender(config_spec& spec, sender_settings& e, const std::string& url_help) {
  const auto& d = sender::dialect_of(e.speaks);
  const std::string name = d.setting;
  spec.add(name, e.url,
           fmt::format("{}, for example {}. Readings of all nodes are written there, each at most once, with "
                       "the time at which it was read (none: nothing is written)",
                       url_help, d.example));
  spec.add(name + "-ca", e.ca,
           "PEM file: the CA that signs the receiver's certificate (none: this machine's CAs)");
  spec.add(name + "-cert", e.cert, "PEM file: client certificate for the receiver");
  spec.add(name + "-key", e.key, "PEM file: its private key");
  spec.add(
      name + "-token", e.token,
      fmt::format("file with the receiver's bearer token; with {}-user it has the user's password. It is "
                  "read again for every request",
                  name));
  spec.add(name + "-user", e.user, "user for the receiver (HTTP Basic)");
  spec.add(name + "-headers", e.headers,
           "more headers of every request, each NAME: VALUE, for example X-Scope-OrgID: team-a for a server "
           "with several tenants (none: only our own)");
  spec.add(name + "-headers-file", e.headers_file,
           "file of more such headers, one a line, for those that are secret. It is read again for every "
           "request");
  spec.add(name + "-interval", e.interval, std::chrono::seconds(1), std::chrono::hours(1),
           "how often new readings are written; if a series was read several times since, only its newest "
           "reading is written");
  spec.add(name + "-families", e.families,
           "families that are written, for example host_*,rapl_power_watts (none: all)");
  spec.add(name + "-memory-mib", e.memory_mib, 1, 16'384,
           "memory for readings that wait while the receiver does not answer, MiB; when it is full, the "
           "oldest are dropped");
  spec.add_choice<replicas_that_send>(
      name + "-by", e.by, {{"leader", replicas_that_send::leader}, {"each", replicas_that_send::each}},
      "which replicas write. leader: only the one that also writes the nodes' labels; each: all, "
      "each adds a label replica with its own name");
}

}  // namespace

config_spec bind(settings& s) {
  config_spec spec("binnacle-aggregator",
                   "Takes telemetry from binnacle-agents, judges nodes by TASPolicy objects, and answers "
                   "kube-scheduler, autoscalers and people.",
                   "binnacle-aggregator --policies ./policies --cert pki/server.crt --key pki/server.key "
                   "--agents-ca pki/agents-ca.crt --clients-ca pki/clients-ca.crt");
  spec.group("Where it listens");
  spec.add("address", s.address, "address to listen on, for every port; empty: all addresses, IPv4 and IPv6");
  spec.add("ingest-port", s.ingest_port, 0, 65535, "port for agents (0: any free one)");
  spec.add("extender-port", s.extender_port, 0, 65535,
           "port for kube-scheduler's filter, prioritize and preempt calls");
  spec.add("metrics-port", s.metrics_port, 0, 65535, "port of the custom metrics API");
  spec.add("ops-port", s.ops_port, 0, 65535, "port of status, decisions and /metrics");
  spec.add("health-port", s.health_port, 0, 65535, "port of /livez and /readyz, plain HTTP");

  spec.group("Who may speak to it");
  spec.add("cert", s.cert, "PEM file: server certificate of every port; read again when it changes");
  spec.add("key", s.key, "PEM file: its private key");
  spec.add(
      "agents-ca", s.agents_ca,
      "PEM file: the CA that signs agents' certificates (none: no certificate of an agent is accepted, only "
      "tokens of agents-account)");
  spec.add(
      "agents-account", s.agents_account,
      "namespace/name of the agents' service account. An agent may then show a projected token instead of a "
      "certificate; the token speaks for its pod's node only. The API server checks it (--kube-config)");
  spec.add("agents-audience", s.agents_audience, "audience that the agents' tokens must have");
  spec.add_choice<ingest::token_origin>(
      "token-origin", s.token_origin,
      {{"anywhere", ingest::token_origin::anywhere},
       {"not-another-pod", ingest::token_origin::not_another_pod},
       {"own-pod", ingest::token_origin::own_pod}},
      "which address an agent's token may come from. not-another-pod: from any but that of another pod; "
      "own-pod: only from an address of its pod (on the host's network: of its node), so no NAT may change "
      "it; anywhere: for agents behind a proxy that is a pod");
  spec.add("agents-uri-prefix", s.agents_uri_prefix,
           "what stands in front of the node's name in the URI of an agent's certificate, for example "
           "spiffe://cluster.example/binnacle/node/ (none: only DNS names count)");
  spec.add(
      "clients-ca", s.clients_ca,
      "PEM file: the CA that signs the certificates of kube-scheduler, the CLI and readers of metrics. In "
      "Kubernetes, callers with a token or certificate of the cluster may read metrics as well, if RBAC "
      "allows it");
  spec.add("denied-serials", s.denied_serials,
           "file of serial numbers of certificates that no port takes, one a line in hexadecimal, as openssl "
           "x509 -noout -serial prints them; read again when it changes, and ends connections that have one "
           "(none: every certificate counts)");
  spec.add(
      "extender-callers", s.extender_callers,
      "names (common name or DNS name) in certificates of clients-ca that may call the extender (none: all)");
  spec.add("metrics-callers", s.metrics_callers,
           "names in certificates of clients-ca that may call the custom metrics API (none: all)");
  spec.add("ops-callers", s.ops_callers,
           "names in certificates of clients-ca that may call the ops port (none: all)");
  spec.add("unsafe", s.unsafe, "the extender speaks plain HTTP without certificates: for trials only");

  spec.group("What it decides by");
  spec.add("policies", s.policies,
           "folder of TASPolicy files (*.yaml), read again when they change; not used with kube-config");
  spec.add("aliases", s.aliases,
           "YAML file with your own names for metrics, each {name, family, selector, rule, scale, "
           "offset, window}; read again when it changes");
  spec.add("policy-poll", s.policy_poll, std::chrono::milliseconds(50), std::chrono::hours(1),
           "how often the files of policies and aliases are checked for changes");
  spec.add("kube-config", s.kube_config,
           "kubeconfig file of a cluster (several: a:b). Policies are then the cluster's TASPolicy "
           "objects, not files, and its API server says who callers are. in-cluster: use the "
           "service account of this pod");
  spec.add("kube-context", s.kube_context, "context of the kubeconfig (default: its current one)");
  spec.add("label-namespaces", s.label_namespaces,
           "namespaces whose policies may label nodes by deschedule and labeling (none: all)");
  spec.add("label-prefix", s.label_prefix,
           "prefix that the name of every policy that labels nodes must have; the name becomes part of the "
           "label's key (none: any name)");
  spec.add("default-max-nodes", s.default_max_nodes,
           "maxNodes of strategies that label nodes and set no maxNodes, for example 3 or 20% (none: no "
           "limit, as with TAS)");
  spec.add("cluster", s.cluster, "name of the cluster; must be the same at the agents");
  spec.add("replica-id", s.replica_id, "name of this replica (default: the host name)");
  spec.add("replicas", s.replicas, 1, wire::max_replicas,
           "number of aggregators behind the address that agents dial; agents keep a link to each");
  spec.add_choice<extender::score_mode>(
      "score", s.score, {{"value", extender::score_mode::value}, {"rank", extender::score_mode::rank}},
      "how prioritize scores nodes. value: by how far apart their values are; rank: by their order alone, as "
      "TAS");

  spec.group("Where readings go");
  bind_sender(spec, s.remote_write, "URL of a receiver of Prometheus remote write, 2.0 or 1.0");
  spec.add_choice<sender::write_version>("remote-write-version", s.remote_write.version,
                                         {{"auto", sender::write_version::automatic},
                                          {"1.0", sender::write_version::v1_0},
                                          {"2.0", sender::write_version::v2_0}},
                                         "which version of remote write the receiver gets. auto: 2.0, or 1.0 "
                                         "if its answers say that it does not know 2.0");
  bind_sender(spec, s.otlp, "URL of a receiver of OpenTelemetry metrics (OTLP over HTTP, protocol buffers)");

  spec.group("Model servers");
  spec.add("model-servers", s.model_servers,
           "servers that may be asked what nodes draw: HOST, HOST:PORT, or *.SUFFIX for all names below it. "
           "Nodes' labels and NodeConfig objects say which of them a node's model is on (none: no server is "
           "asked, and minimizepower uses what was learned)");
  spec.add("model-servers-ca", s.model_servers_ca,
           "PEM file: authority of model servers with https or grpcs (none: those that the system trusts)");
  spec.add(
      "model-servers-secrets", s.model_servers_secrets,
      "namespace whose Secrets may be read: NodeConfig objects there may name one (basicAuthSecret) with "
      "the user name and password of a model server. They go over TLS only (none: no Secret is read)");

  spec.group("Limits, state and running");
  spec.add("max-nodes", s.max_nodes, 1, 100'000, "the most nodes that are accepted");
  spec.add("forget-after", s.forget_after, std::chrono::seconds(0), std::chrono::hours(24 * 365),
           "a node that has not been connected for this long is forgotten; 0s: never");
  spec.add("state", s.state,
           "file that keeps the state of policies through a restart: windows, for, clearBelow, "
           "maxNodes, coolDown and what nodes' watts have taught. It is written every few seconds and read "
           "at the start (none: policies begin anew)");
  spec.add("state-from", s.state_from,
           "host:port of the other replicas' ops ports. At the start this replica asks one after "
           "another for its state. Of each node it uses that state or its own file, whichever knows "
           "more. A name may have several addresses. All replicas need the same --cert and --key");
  spec.add("policy-memory-mib", s.policy_memory_mib, 1, 1 << 20,
           "memory that all policies together may take, MiB; a policy that no longer fits is not in "
           "force. A quarter of it is kept for the state: at most 256 MiB with --state, 384 MiB with "
           "--state-from");
  spec.add(
      "policy-objects", s.policy_objects, 10, 1'000'000,
      "how many TASPolicy objects are read. The text of one may have 128 KiB, those of all together 4 KiB "
      "for each of this number");
  spec.add("policy-columns", s.policy_columns, 1, 1'000'000,
           "how many different metrics, windows and statistics all policies together may read");
  spec.add("policy-label-keys", s.policy_label_keys, 1, 1'000'000,
           "how many different keys of labels all policies together may give to nodes");
  spec.add("policy-rules", s.policy_rules, 1, 1'000'000,
           "how many rules all policies together may have. A node's values are compared with all of them at "
           "once, which takes some milliseconds for 20000 rules, and other nodes' values wait");
  spec.add("policy-evaluations", s.policy_evaluations, 1, 1'000'000,
           "work that all policies together may cause each second: comparisons of rules and reads of points "
           "in windows, millions");
  spec.add("policy-percent", s.policy_percent, 1, 100,
           "share of the limits but policy-objects that one policy may take, percent");
  spec.add("namespace-percent", s.namespace_percent, 1, 100,
           "share of each of these limits that the policies of one namespace may take together, percent");
  spec.add("decision-memory-mib", s.decision_memory_mib, 1, 4096, "memory for decision records, MiB");
  spec.add("drain", s.drain, std::chrono::milliseconds(0), std::chrono::minutes(5),
           "how long requests are still served after SIGTERM, while /readyz fails so that callers "
           "find another replica. Requests that run then get the same time again to finish. A "
           "second signal ends the program at once");
  spec.add("log-level", s.log_level, "the lowest level that is logged to stderr");

  const std::string tas = "Intel TAS";
  spec.alias("port", "extender-port", tas);
  spec.alias("cacert", "clients-ca", tas);
  spec.alias("kubeConfig", "kube-config", tas);
  spec.ignored("syncPeriod", true, "--syncPeriod is not needed: rules are evaluated when a value arrives");
  spec.ignored("cachePort", true, "--cachePort is not needed: there is no separate cache process");
  for (const char* flag :
       {"v", "vmodule", "log_dir", "log_file", "log_backtrace_at", "stderrthreshold", "log_file_max_size"}) {
    spec.ignored(flag, true, "klog's -" + std::string(flag) + " is not used: see --log-level");
  }
  for (const char* flag : {"logtostderr", "alsologtostderr", "add_dir_header", "skip_headers",
                           "skip_log_headers", "one_output"}) {
    spec.ignored(flag, false, "klog's -" + std::string(flag) + " is not used: logs go to stderr");
  }
  return spec;
}

namespace {

/// Two faces cannot share a port. The kernel's error would only say that the port is in use.
result<void> check_ports(const settings& s) {
  const std::array<std::pair<const char*, std::int64_t>, 5> ports{{{"ingest-port", s.ingest_port},
                                                                   {"extender-port", s.extender_port},
                                                                   {"metrics-port", s.metrics_port},
                                                                   {"ops-port", s.ops_port},
                                                                   {"health-port", s.health_port}}};
  for (auto one = ports.begin(); one != ports.end(); ++one) {
    for (auto other = ports.begin(); other != one; ++other) {
      if (one->second == 0 || one->second != other->second) continue;
      return error{errc::invalid_input, fmt::format("--{} and --{} are both {}: give each its own port",
                                                    other->first, one->first, one->second)};
    }
  }
  return {};
}

result<void> check_sender(const sender_settings& e) {
  const auto& d = sender::dialect_of(e.speaks);
  if (auto fits =
          http::check_destination(e.url, {{e.cert, e.key, e.ca}, e.user, e.token}, d.setting, d.example);
      fits.has_error())
    return fits;
  const auto wrong = [&](std::string_view form, std::string_view more = {}) {
    return error{errc::invalid_input, fmt::format(fmt::runtime(form), d.setting, more)};
  };
  if (e.url.empty() && !(e.headers.empty() && e.headers_file.empty()))
    return wrong("--{0}-headers{1} is given without --{0}: name the URL, too",
                 e.headers.empty() ? "-file" : "");
  if (const auto read = http::read_headers(e.headers); read.has_error())
    return wrong("--{0}-headers: {1}", read.error().message);
  if (!e.headers_file.empty() && !http::parse_destination(e.url, d.setting, d.example)->secure)
    return wrong("--{0} is http, which everybody on the way may read: use https with --{0}-headers-file");
  return {};
}

result<void> check_replicas(const settings& s) {
  for (const std::string& at : s.state_from) {
    if (!read_endpoint(at, settings::usual_ops_port))
      return error{errc::invalid_input,
                   "--state-from " + in_quotes(at) + " is no address: write HOST:PORT, as binnacle-2:9102"};
  }
  return {};
}

bool is_namespace(std::string_view text) { return is_dns_subdomain(text) && text.find('.') == text.npos; }

error no_namespace(std::string_view setting, std::string_view given) {
  return {errc::invalid_input,
          fmt::format("--{}: {} is not a namespace: lower-case letters, digits and '-'", setting, given)};
}

result<void> check_model_servers(const settings& s) {
  if (!s.model_servers_ca.empty() && s.model_servers.empty())
    return error{errc::invalid_input,
                 "--model-servers-ca is given without --model-servers: name the servers, too"};
  if (!s.model_servers_secrets.empty() && s.model_servers.empty())
    return error{errc::invalid_input,
                 "--model-servers-secrets is given without --model-servers: name the servers, too"};
  if (!s.model_servers_secrets.empty() && !is_namespace(s.model_servers_secrets))
    return no_namespace("model-servers-secrets", s.model_servers_secrets);
  if (s.model_servers.empty()) return {};
  const auto allowed = model_servers::allowed_servers::read(s.model_servers);
  if (allowed.has_error()) return error{errc::invalid_input, "--model-servers: " + allowed.error().message};
  if (s.mode() == deployment_mode::standalone)
    return error{
        errc::invalid_input,
        "--model-servers needs --kube-config: labels and objects of the API server say which node has "
        "which model"};
  return {};
}

/// Whether the text is "scheme://authority/", perhaps with more path, and ends with '/'. A node's name can
/// then follow as one path segment.
bool is_uri_folder(std::string_view text) {
  const auto url = split_url(text);
  return !url.scheme.empty() && !url.authority.empty() && url.rest.ends_with('/') &&
         text.find_first_of("?#% \t") == text.npos;
}

}  // namespace

result<void> validate(const settings& s) {
  struct needed {
    const char* key;
    const std::string& file;
  };
  for (const needed& n : {needed{"cert", s.cert}, needed{"key", s.key}, needed{"agents-ca", s.agents_ca},
                          needed{"clients-ca", s.clients_ca}}) {
    const bool by_token = n.key == std::string_view("agents-ca") && !s.agents_account.empty();
    if (n.file.empty() && !by_token) {
      return error{
          errc::invalid_input,
          std::string("--") + n.key + " is missing: name a PEM file (scripts/pki makes a set for trials)"};
    }
  }
  for (const std::string& name : s.label_namespaces) {
    if (!is_namespace(name)) return no_namespace("label-namespaces", name);
  }
  if (const auto most = policy::parse_node_limit(s.default_max_nodes);
      !s.default_max_nodes.empty() && most.has_error())
    return error{errc::invalid_input, "--default-max-nodes: " + most.error().message};
  if (auto distinct = check_ports(s); distinct.has_error()) return distinct;
  for (const sender_settings* where : s.senders()) {
    if (auto writable = check_sender(*where); writable.has_error()) return writable;
  }
  if (auto known = check_replicas(s); known.has_error()) return known;
  if (auto allowed = check_model_servers(s); allowed.has_error()) return allowed;
  if (s.unsafe && !s.extender_callers.empty())
    return error{errc::invalid_input,
                 "--extender-callers and --unsafe exclude each other: plain HTTP has no certificates"};
  const auto slash = s.agents_account.find('/');
  if (!s.agents_account.empty() && (slash == 0 || slash >= s.agents_account.size() - 1 ||
                                    s.agents_account.find('/', slash + 1) != s.agents_account.npos)) {
    return error{errc::invalid_input,
                 "--agents-account " + s.agents_account + " is not a service account: write namespace/name"};
  }
  if (!s.agents_account.empty() && s.mode() == deployment_mode::standalone) {
    return error{errc::invalid_input,
                 "--agents-account needs --kube-config: the API server is asked whose a token is"};
  }
  if (!s.agents_account.empty() && s.agents_audience.empty()) {
    return error{
        errc::invalid_input,
        "--agents-audience is empty: every token of that account for anything would count; name one"};
  }
  if (const std::string& prefix = s.agents_uri_prefix; !prefix.empty() && !is_uri_folder(prefix)) {
    return error{errc::invalid_input,
                 "--agents-uri-prefix " + in_quotes(prefix) +
                     " is not a URI to which a node's name can be appended: write the scheme, the "
                     "trust domain and a path that ends in '/', as spiffe://cluster.example/node/"};
  }
  if (s.mode() == deployment_mode::in_cluster) return {};
  std::error_code ec;
  if (!std::filesystem::is_directory(s.policies, ec)) {
    if (std::filesystem::exists(s.policies, ec))
      return error{errc::invalid_input, "--policies " + s.policies +
                                            " is not a folder: name the folder that holds the policy files"};
    return error{errc::not_found, "policies folder " + s.policies +
                                      " does not exist: create it or name another with --policies"};
  }
  return {};
}

}  // namespace binnacle::aggregator
