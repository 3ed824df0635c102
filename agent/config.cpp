#include "agent/config.hpp"

#include "agent/config_bmc.hpp"
#include "agent/uplink.hpp"
#include "common/log.hpp"
#include "common/read_file.hpp"
#include "common/text.hpp"
#include "common/wire/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <unistd.h>

namespace binnacle::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Each on a line of its own.
constexpr std::array<std::string_view, 8> known_sources{
    "rapl",      //
    "os",        //
    "pmu",       //
    "bmc",       //
    "textfile",  //
    "scrape",    //
    "path",      //
    "rdt",       //
};

// Told of beside them in a node's status: the first two are always read, the last is a part of pmu.
constexpr std::array<std::string_view, 3> further_sources{"agent", "host", "pmu-pods"};

std::string joined_sources() { return fmt::format("{}", fmt::join(known_sources, ", ")); }

error invalid(std::string message) { return {errc::invalid_input, std::move(message)}; }

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return lowered(std::string_view(name.data()));
}

result<void> read_scrape_targets(settings& s) {
  s.scrape_targets.clear();
  if (!s.reads("scrape")) return {};
  const auto period = s.period_of(s.scrape_period);
  for (const auto& url : s.scrape) {
    auto target = parse_target(url);
    if (!target) return invalid("scrape: " + target.error().message);
    if (target->secure)
      return invalid(
          fmt::format("scrape: {} needs a CA to be verified with: name it and the CA in scrape-file", url));
    target->period = period;
    target->timeout = std::min(target->timeout, period);
    target->metrics = s.scrape_metrics;
    s.scrape_targets.push_back(*std::move(target));
  }
  if (!s.scrape_file.empty()) {
    const auto text = read_file(s.scrape_file, 1u << 20);
    if (!text)
      return error{text.error().code, fmt::format("scrape-file {}: {}", s.scrape_file, text.error().message)};
    auto more = parse_targets(*text, s.scrape_file, period);
    if (!more) return more.error();
    std::move(more->begin(), more->end(), std::back_inserter(s.scrape_targets));
  }
  return check_targets(s.scrape_targets);
}

}  // namespace

bool settings::reads(std::string_view source) const noexcept {
  return std::find(sources.begin(), sources.end(), source) != sources.end();
}

config_spec bind(settings& s) {
  config_spec spec(
      "binnacle-agent",
      "Reads this node's power, system and users' own metrics and streams them to binnacle-aggregator.",
      "binnacle-agent --aggregator aggregator.binnacle:9110 --cert pki/node-node7.crt --key "
      "pki/node-node7.key "
      "--ca pki/server-ca.crt");
  spec.group("Who and where to");
  spec.add(
      "node-name", s.node_name,
      "this node's name, also in its certificate; the aggregator takes it in lower case, as Kubernetes does "
      "(default: the lower-cased host name)");
  spec.add("cluster", s.cluster, "name of the cluster; the aggregator must say the same");
  spec.add("aggregator", s.aggregator, "aggregators, host:port each; none: only the scrape endpoint");
  spec.add("server-name", s.server_name,
           "name the aggregator's certificate must have (default: the host dialled)");
  spec.add("cert", s.cert, "PEM file: this node's certificate; looked at again before each dial");
  spec.add("key", s.key, "PEM file: its private key");
  spec.add("ca", s.ca, "PEM file: the CA that signs aggregators' certificates");
  spec.add(
      "token-file", s.token_file,
      "file with a projected service account token (audience binnacle) that speaks for the node in place of "
      "a certificate; read again for every hello");
  spec.add("uplink-budget", s.uplink_budget, 0, 1e9,
           "bytes per second that all links together may take, headers included: beyond it series that no "
           "policy watches are sent less often; 0: no bound");

  spec.group("What is read");
  spec.add("sources", s.sources, "what to read: " + joined_sources());
  spec.add("period", s.period, milliseconds(20), hours(1), "time between two reads of a source");
  spec.add_or_zero("os-period", s.os_period, milliseconds(20), hours(1),
                   "time between two reads of os; 0s: period");
  spec.add_or_zero("pmu-period", s.pmu_period, milliseconds(20), hours(1),
                   "time between two reads of pmu; 0s: period");
  spec.add_or_zero("rapl-period", s.rapl_period, milliseconds(20), std::chrono::minutes(1),
                   "time between two reads of rapl; 0s: period");
  spec.add("rapl-least-period", s.rapl_least_period, milliseconds(50), std::chrono::minutes(1),
           "shortest period an aggregator may ask of rapl");
  spec.add_choice(
      "frozen", s.frozen, {"flag", "absent"},
      "what a sensor that hangs gets: a flag in its source's status and in binnacle_agent_frozen_sensors, or "
      "no value either, with the reason frozen");
  spec.add("read-budget", s.read_budget, 0.01, 100,
           "percent of one core that reading a source more often than its period, because policies watch it, "
           "may take");
  spec.add(
      "os-sensor-period", s.os_sensor_period, milliseconds(100), hours(1),
      "time between two reads of what hardware may keep waiting: sensor chips, thermal zones, CPU frequency");
  spec.add("os-drive-period", s.os_drive_period, std::chrono::seconds(1), hours(24),
           "time between two reads of drives' temperatures, each of which is a command to the drive");
  spec.add("os-per-cpu", s.os_per_cpu, "also a series for each CPU and core (time, frequency, temperature)");
  spec.add("inlet-sensors", s.inlet_sensors,
           "hwmon sensors (LABEL or CHIP/LABEL) and thermal zones (TYPE) that count as air inlet where no "
           "BMC gives "
           "one: names with * and ?");
  spec.add_or_zero("textfile-period", s.textfile_period, milliseconds(20), hours(1),
                   "time between two reads of textfile; 0s: period");
  spec.add_or_zero("rdt-period", s.rdt_period, milliseconds(20), hours(1),
                   "time between two reads of rdt; 0s: period");
  spec.add("rdt-groups", s.rdt_groups, 1, 1024, "groups of resctrl that are read at most");
  spec.add_or_zero("scrape-period", s.scrape_period, milliseconds(20), hours(1),
                   "time between two reads of scrape; 0s: period");
  spec.add_or_zero("path-period", s.path_period, milliseconds(20), hours(1),
                   "time between two probes of one peer, at least 100ms; 0s: period");
  spec.add("rapl-tdp", s.rapl_tdp, 0, 10'000,
           "watts of one package's TDP where the kernel does not say; 0: unknown");
  spec.add("virtual-interfaces", s.virtual_interfaces,
           "announce virtual network interfaces (bridges, pods' ends) too");
  spec.add_choice("pmu-preset", s.pmu_preset, {"default", "collectd", "none"},
                  "events that are counted: a lean set, the 42 of collectd's intel_pmu, or only pmu-events");
  spec.add("pmu-events", s.pmu_events,
           "more events: instructions, r01c2, cpu/event=0xc2,umask=0x01/, uncore_imc/cas_count_read/ or "
           "libpfm4's INST_RETIRED:ANY_P");
  spec.add("pmu-per-cpu", s.pmu_per_cpu, "a series for each CPU instead of the machine's sum");
  spec.add("pmu-pods", s.pmu_pods, "count for each pod, too, by its cgroup");
  spec.add("pmu-pods-period", s.pmu_pods_period, std::chrono::seconds(1), hours(1),
           "time between two reads of that");
  spec.add("pmu-most-pods", s.pmu_most_pods, 1, 1000, "pods that are counted at most");
  spec.add("textfile-directory", s.textfile_directory, "folder of *.prom files; none: no textfile source");
  spec.add("scrape", s.scrape, "addresses of exporters on this node, such as http://127.0.0.1:9400/metrics");
  spec.add("scrape-metrics", s.scrape_metrics,
           "names taken from those, * allowed; none: all but histograms' buckets");
  spec.add("scrape-file", s.scrape_file,
           "YAML file of more exporters, each with settings of its own (agent/README.md)");
  spec.add(
      "path", s.path,
      "peers to measure round trip and loss to: HOST:PORT (a TCP connection), icmp:HOST, or NAME=either");
  spec.add("path-timeout", s.path_timeout, milliseconds(10), std::chrono::minutes(1),
           "a probe without an answer in this time is lost; at most path-period");
  spec.add("sys-root", s.sys_root, "where the machine's /sys is mounted (/host/sys in a container)");
  spec.add("proc-root", s.proc_root, "where the machine's /proc is mounted");

  bind_bmc(spec, s);

  spec.group("What is served");
  spec.add("listen", s.listen,
           "address of /metrics, /livez and /readyz; :9103 for scrapers of other machines, empty: none");
  spec.add("health", s.health,
           "address of /livez and /readyz alone, in plain HTTP, which no crowd of scrapers can take: :9104; "
           "empty: none");
  spec.add("listen-cert", s.listen_cert, "PEM file: serve that over TLS with this certificate");
  spec.add("listen-key", s.listen_key, "PEM file: its private key");
  spec.add("listen-ca", s.listen_ca, "PEM file: ask scrapers for certificates of this CA");

  spec.group("Running");
  spec.add_choice("log-level", s.log_level, {"debug", "info", "warning", "error", "off"},
                  "what is logged to stderr");
  spec.add("probe", s.probe, "say what can be read here and what would mend the rest, then end");
  spec.add_choice("output", s.output, {"text", "json"}, "form of --probe");
  spec.add(
      "report", s.report,
      "write to this file (-: the standard output) what Binnacle's developers need to see of this machine's "
      "sensors, then end: sudo binnacle-agent --report machine.yaml");
  spec.alias("o", "output", "short");
  return spec;
}

result<void> complete(settings& s) {
  if (s.node_name.empty()) s.node_name = host_name();
  if (!wire::valid_node_name(s.node_name)) {
    return invalid(
        fmt::format("node-name \"{}\" is no node name: use letters, digits, '-', '.' and '_' (--node-name)",
                    s.node_name));
  }
  for (const auto& source : s.sources) {
    const auto knows = [&](const auto& names) {
      return std::find(names.begin(), names.end(), source) != names.end();
    };
    if (!knows(known_sources) && !knows(further_sources)) {
      return invalid(fmt::format("sources: there is no source \"{}\": use {}", source, joined_sources()));
    }
  }
  // Else each source would tell of a machine without its sensors.
  for (const auto& [name, root, of] :
       {std::tuple("sys-root", &s.sys_root, "/sys"), {"proc-root", &s.proc_root, "/proc"}}) {
    std::error_code bad;
    // Of one that may not be looked at the sources tell, with the capability that is missing.
    if (std::filesystem::is_directory(*root, bad) || bad == std::errc::permission_denied) continue;
    return invalid(fmt::format("{} {} is no folder{}: name the one where the machine's {} is mounted", name,
                               in_quotes(*root, 200), bad ? " (" + bad.message() + ")" : "", of));
  }
  if (auto read = read_scrape_targets(s); !read) return read;
  auto peers = parse_peers(s.path);
  if (!peers) return invalid("path: " + peers.error().message);
  s.path_peers = s.reads("path") ? *std::move(peers) : std::vector<path_peer>();
  if (const auto right = make_bmc_options(s); !right) return right.error();
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
  return {};
}

result<listen_address> parse_listen(const std::string& text, std::string_view key) {
  const auto wrong =
      invalid(fmt::format("{} \"{}\" is no address: use :9103, 127.0.0.1:9103 or [::1]:9103", key, text));
  const auto colon = text.rfind(':');
  if (colon == text.npos) return wrong;
  listen_address at{text.substr(0, colon), 0};
  const auto port = std::string_view(text).substr(colon + 1);
  const auto [end, bad] = std::from_chars(port.data(), port.data() + port.size(), at.port);
  if (port.empty() || bad != std::errc{} || end != port.data() + port.size()) return wrong;
  if (at.address.starts_with('[') && at.address.ends_with(']')) {
    at.address = at.address.substr(1, at.address.size() - 2);
  } else if (at.address.find(':') != at.address.npos) {
    return wrong;
  }
  return at;
}

}  // namespace binnacle::agent
