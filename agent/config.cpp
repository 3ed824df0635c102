#include "agent/config.hpp"

#include "agent/base/source_kind.hpp"
#include "agent/uplink/uplink.hpp"
#include "common/log/log.hpp"
#include "common/system/host_name.hpp"
#include "common/text/text.hpp"
#include "common/wire/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

namespace binnacle::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

}  // namespace

config_spec bind(settings& s, const source_kinds& kinds) {
  s.sources = usual_names(kinds);
  config_spec spec("binnacle-agent",
                   "Reads this node's power sensors, system metrics and users' own metrics, and streams them "
                   "to binnacle-aggregator.",
                   "binnacle-agent --aggregator aggregator.binnacle:9110 --cert pki/node-node7.crt --key "
                   "pki/node-node7.key "
                   "--ca pki/server-ca.crt");
  spec.group("Who and where to");
  spec.add("node-name", s.node_name,
           "name of this node, as in its certificate; the aggregator uses it in lower case, as Kubernetes "
           "does (default: the host name in lower case)");
  spec.add("cluster", s.cluster, "name of the cluster; must be the same at the aggregator");
  spec.add("aggregator", s.aggregator, "aggregators to stream to, host:port each; none: only serve /metrics");
  spec.add("server-name", s.server_name,
           "name that the aggregator's certificate must have (default: the host that is dialled)");
  spec.add("cert", s.cert, "PEM file: this node's certificate; read again before each dial");
  spec.add("key", s.key, "PEM file: its private key");
  spec.add("ca", s.ca, "PEM file: the CA that signs aggregators' certificates");
  spec.add("token-file", s.token_file,
           "file with a projected service account token (audience binnacle), used instead of a certificate; "
           "read again for every hello");
  spec.add("uplink-budget", s.uplink_budget, 0, 1e9,
           "bytes per second that all links together may use, headers included; if that is too little, "
           "series that no policy watches are sent less often; 0: no limit");

  spec.group("What is read");
  spec.add("sources", s.sources, fmt::format("what to read: {}", fmt::join(offered_names(kinds), ", ")));
  spec.add("period", s.period, milliseconds(20), hours(1), "time between two reads of a source");
  spec.add_choice<on_frozen>(
      "frozen", s.frozen, {{"flag", on_frozen::flag}, {"absent", on_frozen::absent}},
      "what to do about a stuck sensor. flag: name it in its source's status and count it in "
      "binnacle_agent_frozen_sensors; absent: also withhold its value, with the reason frozen");
  spec.add("read-budget", s.read_budget, 0.01, 100,
           "percent of one core that a source may use to read more often than its period because policies "
           "watch it");
  spec.add("self-period", s.self_period, milliseconds(20), hours(1),
           "time between two reads of what the agent says about itself");
  spec.add("sys-root", s.sys_root, "where the machine's /sys is mounted (/host/sys in a container)");
  spec.add("proc-root", s.proc_root, "where the machine's /proc is mounted");
  for (const auto& kind : kinds) kind->bind(spec);

  spec.group("What is served");
  spec.add("listen", s.listen,
           "address of /metrics, /livez and /readyz; :9103 lets other machines scrape it; empty: none");
  spec.add("health", s.health,
           "address of /livez and /readyz alone, in plain HTTP, for example :9104; scrapers cannot use up "
           "its connections; empty: none");
  spec.add("listen-cert", s.listen_cert, "PEM file: serve /metrics over TLS with this certificate");
  spec.add("listen-key", s.listen_key, "PEM file: its private key");
  spec.add("listen-ca", s.listen_ca, "PEM file: require scrapers to have a certificate of this CA");
  spec.add("listen-denied-serials", s.listen_denied_serials,
           "file of serial numbers of scrapers' certificates that are refused, one a line in hexadecimal; "
           "read again when it changes (none: no certificate is)");

  spec.group("Running");
  spec.add("log-level", s.log_level, "the lowest level that is logged to stderr");
  spec.add("probe", s.probe, "print what can be read here and what would mend the rest, then end");
  spec.add("output", s.output, "form of --probe");
  spec.add("report", s.report,
           "write a report about this machine's sensors, for Binnacle's developers, to this file (-: "
           "standard output), then end: sudo binnacle-agent --report machine.yaml");
  spec.alias("o", "output", "short");
  return spec;
}

result<void> complete(settings& s, const source_kinds& kinds) {
  if (s.node_name.empty()) s.node_name = lowered(host_name());
  if (!wire::valid_node_name(s.node_name)) {
    return invalid(fmt::format(
        "node-name \"{}\" is not a valid node name: use letters, digits, '-', '.' and '_' (--node-name)",
        s.node_name));
  }
  for (const auto& source : s.sources) {
    // A node's status lists "agent" among the sources, so people may name it here. It is accepted; it is
    // always read.
    const bool known = source == "agent" || std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) {
                         return kind->name() == source;
                       });
    if (known) continue;
    return invalid(fmt::format("sources: there is no source \"{}\": use {}", source,
                               fmt::join(offered_names(kinds), ", ")));
  }
  // If one of these folders were missing, each source would only report a machine without sensors.
  for (const auto& [name, root, of] :
       {std::tuple("sys-root", &s.sys_root, "/sys"), {"proc-root", &s.proc_root, "/proc"}}) {
    std::error_code bad;
    // If permission is denied, the sources say which capability is missing.
    if (std::filesystem::is_directory(*root, bad) || bad == std::errc::permission_denied) continue;
    return invalid(fmt::format("{} {} is not a folder{}: name the one where the machine's {} is mounted",
                               name, in_quotes(*root, 200), bad ? " (" + bad.message() + ")" : "", of));
  }
  for (const auto& kind : kinds) {
    if (auto right = kind->complete(s); !right) return right;
  }
  if (s.probe || !s.report.empty()) return {};

  for (const auto& text : s.aggregator) {
    if (auto at = parse_endpoint(text); !at) return at.error();
  }
  if (!s.aggregator.empty()) {
    const bool by_token = !s.token_file.empty() && s.cert.empty() && s.key.empty();
    for (const auto& [key, file] : {std::pair("cert", &s.cert), {"key", &s.key}, {"ca", &s.ca}}) {
      if (!file->empty() || (by_token && file != &s.ca)) continue;
      return invalid(fmt::format(
          "--{} is missing: the link to an aggregator needs ca, and cert and key (scripts/pki makes "
          "them for trials) or token-file",
          key));
    }
  }
  if (s.listen.empty() && s.aggregator.empty()) {
    return invalid("neither aggregator nor listen is set, so nobody could read anything: set one of them");
  }
  if (!s.listen.empty()) {
    if (auto at = parse_listen(s.listen); !at) return at.error();
  }
  if (!s.health.empty()) {
    if (auto at = parse_listen(s.health, "health"); !at) return at.error();
  }
  if (s.listen_cert.empty() != s.listen_key.empty() || (s.listen_cert.empty() && !s.listen_ca.empty())) {
    return invalid("listen-cert and listen-key belong together, and listen-ca needs both");
  }
  if (!s.listen_denied_serials.empty() && s.listen_ca.empty()) {
    return invalid("listen-denied-serials needs listen-ca: without it no scraper is asked for a certificate");
  }
  return {};
}

result<endpoint> parse_listen(const std::string& text, std::string_view key) {
  if (auto at = read_listen_address(text)) return *std::move(at);
  return invalid(
      fmt::format("{} \"{}\" is not an address: use :9103, 127.0.0.1:9103 or [::1]:9103", key, text));
}

}  // namespace binnacle::agent
