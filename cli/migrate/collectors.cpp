// Migrates what read the sensors: collectd and the exporters on the nodes.
#include "cli/migrate/migration.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace binnacle::cli::migrate {
namespace {

struct plugin {
  std::string_view name;
  std::string_view sentence;
};
// The plug-ins that the collectd configurations shipped with TAS load.
constexpr std::array plugins{
    plugin{"cpu", "source os: os_cpu_*"},
    plugin{"cpufreq", "source os: os_cpu_frequency_*"},
    plugin{"exec", "what its programs print: write it to a *.prom file (agent.textfileDirectory)"},
    plugin{"hugepages", "source os: os_hugepages*"},
    plugin{"intel_pmu",
           "source pmu: pmu_*; agent.settings.pmu-preset: collectd has the 42 events of its list"},
    plugin{"interface", "source os: os_network_*"},
    plugin{"load", "source os: os_load*"},
    plugin{"memory", "source os: os_memory_*"},
    plugin{"python", "pkgpower.py is source rapl: rapl_*, package_power_avg for any number of sockets"},
    plugin{"sensors", "source os: os_hwmon_*"},
    plugin{"thermal", "source os: os_thermal_zone_*"},
    plugin{"turbostat", "source rapl and source os"},
};
// Plug-ins that read no sensor: they pass collectd's values on, or write its log.
constexpr std::array<std::string_view, 6> outlets{"write_prometheus", "network", "logfile",
                                                  "syslog",           "csv",     "rrdtool"};

void take_plugin(const std::string& name, const std::string& whose, migration& out) {
  const std::string subject = whose + ", LoadPlugin " + name;
  if (name == "ipmi") {
    out.values["agent"]["ipmi"]["enabled"] = true;
    out.carried(subject, "agent.ipmi.enabled: source bmc: bmc_*");
    return;
  }
  if (name == "intel_rdt") {
    // The agent's default sources (usual_names()), and rdt, which the agent reads only if it is told to.
    for (const char* source : {"rapl", "os", "pmu", "bmc", "textfile", "scrape", "path", "rdt"})
      out.values["agent"]["settings"]["sources"].push_back(source);
    out.carried(subject, "agent.settings.sources: source rdt: rdt_*, by the resctrl filesystem");
    return;
  }
  const auto known =
      std::find_if(plugins.begin(), plugins.end(), [&](const plugin& p) { return p.name == name; });
  if (known != plugins.end()) {
    out.works(subject, std::string(known->sentence));
  } else if (std::find(outlets.begin(), outlets.end(), name) != outlets.end()) {
    out.dropped(subject, "the agents stream to the aggregator and have /metrics on :9103, collectd's port");
  } else {
    out.yours(
        subject,
        "has no counterpart: keep collectd for it and let the agent scrape its port (agent.settings.scrape: "
        "http://$(HOST_IP):9103/metrics, if it listens on the node's network), or write *.prom files");
  }
}

/// "LoadPlugin cpu", "<LoadPlugin python>", "LoadPlugin "ipmi"".
bool take_collectd_conf(const std::string& text, const std::string& whose, migration& out) {
  bool any = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, name;
    words >> first >> name;
    first = lowered(first);
    if (first != "loadplugin" && first != "<loadplugin") continue;
    std::erase_if(name, [](char c) { return c == '"' || c == '>'; });
    if (name.empty()) continue;
    any = true;
    take_plugin(lowered(name), whose, out);
  }
  return any;
}

/// Where on the host the folder of a container is, if a hostPath is mounted there; else empty.
std::string on_the_host(const manifest& m, const std::string& folder) {
  const auto containers = below(m.body, "spec.template.spec.containers");
  const auto volumes = below(m.body, "spec.template.spec.volumes");
  for (std::size_t i = 0; containers.IsSequence() && i < containers.size(); ++i) {
    const auto mounts = below(containers[i], "volumeMounts");
    for (std::size_t k = 0; mounts.IsSequence() && k < mounts.size(); ++k) {
      const auto at = text_of(mounts[k], "mountPath");
      if (at.empty() || !folder.starts_with(at)) continue;
      for (std::size_t v = 0; volumes.IsSequence() && v < volumes.size(); ++v) {
        if (text_of(volumes[v], "name") != text_of(mounts[k], "name")) continue;
        if (const auto host = text_of(volumes[v], "hostPath.path"); !host.empty())
          return host + folder.substr(at.size());
      }
    }
  }
  return {};
}

void take_node_exporter(const manifest& m, migration& out) {
  for (const flag& f : flags_of(m)) {
    if (f.name != "collector.textfile.directory") continue;
    const std::string subject = m.title() + ", " + f.written();
    // The flag names a folder inside the container.
    if (const std::string folder = on_the_host(m, f.value); !folder.empty()) {
      out.values["agent"]["textfileDirectory"] = folder;
      out.carried(subject, "agent.textfileDirectory");
      return;
    }
    out.yours(subject, "set agent.textfileDirectory to the folder on the host that lies behind it");
  }
}

}  // namespace

bool migrate_collector(const manifest& m, migration& out) {
  if (m.kind == "ConfigMap") {
    const auto data = below(m.body, "data");
    bool any = false;
    if (data.IsMap()) {
      for (const auto& entry : data) {
        if (entry.second.IsScalar()) any |= take_collectd_conf(entry.second.Scalar(), m.title(), out);
      }
    }
    return any;
  }
  if (m.kind != "DaemonSet") return false;
  const auto images = images_of(m);
  if (images.find("node-exporter") != images.npos || images.find("node_exporter") != images.npos) {
    take_node_exporter(m, out);
    out.yours(m.title(), "policies no longer need it; delete it if nobody else reads it");
    return true;
  }
  if (images.find("ipmi") != images.npos && images.find("exporter") != images.npos) {
    out.values["agent"]["ipmi"]["enabled"] = true;
    out.carried(m.title(), "agent.ipmi.enabled; names such as ipmi_temperature_celsius go on working");
    return true;
  }
  if (images.find("collectd") != images.npos) {
    out.yours(m.title(), "the agent reads the same values: delete it when nobody uses it any more");
    return true;
  }
  return false;
}

}  // namespace binnacle::cli::migrate
