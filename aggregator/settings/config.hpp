#pragma once

#include "aggregator/extender/score_mode.hpp"
#include "aggregator/ingest/token_origin.hpp"
#include "aggregator/sender/protocol.hpp"
#include "common/config/config.hpp"
#include "common/log/log.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::aggregator {

enum class deployment_mode : std::uint8_t {
  standalone,  ///< policies come from a folder, and labels are kept in memory
  in_cluster,  ///< policies and labels are in the API server, which also says who a caller is
};

/// Which replicas write to the time-series database.
enum class replicas_that_send : std::uint8_t {
  leader,  ///< the one that writes labels; standalone: every one
  each,    ///< all of them, told apart by the label `replica`
};

/// Where one protocol sends readings. The URL's setting has the protocol's name ("otlp"); the names of all
/// others begin with it ("otlp-interval").
struct sender_settings {
  sender::protocol speaks;
  std::string url;  ///< of the receiver; empty: nothing is sent
  std::string ca;
  std::string cert;
  std::string key;
  std::string token;  ///< file with a bearer token; if there is a user, with the user's password
  std::string user;
  std::vector<std::string> headers;  ///< "NAME: VALUE", in every request
  std::string headers_file;          ///< file with further, secret headers
  duration interval = std::chrono::seconds(10);
  std::vector<std::string> families;  ///< globs; none: all
  std::int64_t memory_mib = 192;
  replicas_that_send by = replicas_that_send::leader;
  sender::write_version version = sender::write_version::automatic;  ///< of remote write only
};

/// The aggregator's settings, with their defaults. Every member is a key of the YAML file and a flag of the
/// same name (underscores as dashes); see bind().
struct settings {
  static constexpr std::uint16_t usual_ops_port = 9102;

  std::string address;
  std::int64_t ingest_port = 9110;
  std::int64_t extender_port = 9001;
  std::int64_t metrics_port = 6443;
  std::int64_t ops_port = usual_ops_port;
  std::int64_t health_port = 8081;

  std::string cert;  ///< PEM server certificate of every face
  std::string key;
  std::string agents_ca;  ///< verifies agents
  std::string
      agents_account;  ///< "namespace/name" of the agents' service account; empty: tokens do not count
  std::string agents_audience = "binnacle";
  std::string agents_uri_prefix;  ///< of URIs that name nodes in agents' certificates; empty: none do
  ingest::token_origin token_origin = ingest::token_origin::not_another_pod;
  std::string clients_ca;      ///< verifies certificates of kube-scheduler, the CLI and readers of metrics
  std::string denied_serials;  ///< file with the serial numbers of revoked certificates
  // Names of the certificates (signed by clients_ca) that may call each face; empty: all.
  std::vector<std::string> extender_callers, metrics_callers, ops_callers;
  bool unsafe = false;  ///< the extender speaks plain HTTP

  std::string policies = "/etc/binnacle/policies";
  std::string aliases;                        ///< YAML file with the user's own metric names; empty: none
  std::string kube_config;                    ///< a kubeconfig file, "in-cluster", or empty: standalone
  std::string kube_context;                   ///< context of the kubeconfig; empty: its current one
  std::vector<std::string> label_namespaces;  ///< namespaces whose policies may label nodes; empty: all
  std::string label_prefix;                   ///< of names of policies that may label nodes; empty: any
  std::string default_max_nodes;  ///< maxNodes where a policy gives none: "3", "20%"; empty: no limit
  std::string cluster;
  std::string replica_id;  ///< default: host name
  std::int64_t replicas = 1;
  extender::score_mode score = extender::score_mode::value;

  std::int64_t max_nodes = 20'000;
  duration forget_after = std::chrono::hours(24);  ///< zero: never
  std::int64_t decision_memory_mib = 32;
  std::string state;  ///< file that takes windows, `for`, slots and cool-downs through a restart; empty: none
  std::vector<std::string> state_from;  ///< host:port of other replicas' ops ports, asked at the start
  // Limits for all policies together. The two percentages say how much of each limit one policy, and all
  // policies of one namespace, may take.
  std::int64_t policy_memory_mib = 512;
  std::int64_t policy_objects = 2'000;  ///< in a cluster
  std::int64_t policy_columns = 1'000;
  std::int64_t policy_label_keys = 512;
  std::int64_t policy_rules = 20'000;
  std::int64_t policy_evaluations = 200;  ///< in a second, millions
  std::int64_t policy_percent = 50;
  std::int64_t namespace_percent = 75;
  duration policy_poll = std::chrono::seconds(1);
  sender_settings remote_write{sender::protocol::remote_write}, otlp{sender::protocol::otlp};
  std::vector<std::string> model_servers;  ///< servers that may be asked (model_servers/allowed.hpp)
  std::string model_servers_ca;            ///< PEM file for servers with https or grpcs; empty: the system's
  std::string model_servers_secrets;       ///< namespace whose Secrets may be read for them; empty: none
  duration drain = std::chrono::seconds(5);
  binnacle::log_level log_level = binnacle::log_level::info;

  /// The settings of every protocol that can send readings.
  std::array<const sender_settings*, 2> senders() const noexcept { return {&remote_write, &otlp}; }

  deployment_mode mode() const noexcept {
    return kube_config.empty() ? deployment_mode::standalone : deployment_mode::in_cluster;
  }
};

/// Describes the settings in `s` for the command line and the YAML file, with TAS's flags. `s` must outlive
/// the result.
config_spec bind(settings& s);

/// Checks what depends on several settings, such as files that belong together and names that must be given.
/// Errors: invalid_input, one sentence with the remedy.
result<void> validate(const settings& s);

}  // namespace binnacle::aggregator
