#include "cli/scheduler_config.hpp"

#include "cli/doctor/cluster/configured_extender.hpp"
#include "cli/doctor/doctor.hpp"
#include "cli/extender_entry.hpp"
#include "cli/input_file.hpp"
#include "cli/yaml_text.hpp"
#include "common/clock.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/load_yaml.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <ostream>

namespace binnacle::cli {
namespace {

constexpr const char* group = "kubescheduler.config.k8s.io/v1";

/// The minor version in "1.34", "v1.34.2", "v1.34.2+k3s1". Errors: the text has another form, or the version
/// is too old.
result<int> minor_of(const std::string& version) {
  std::string_view text = version;
  if (text.starts_with('v')) text.remove_prefix(1);
  int minor = 0;
  if (text.starts_with("1.")) {
    const auto [end, failed] = std::from_chars(text.data() + 2, text.data() + text.size(), minor);
    if (failed == std::errc{} && (end == text.data() + text.size() || *end == '.')) {
      if (minor >= 30) return minor;
      return invalid(
          fmt::format("Kubernetes {} is too old: its scheduler may leave a pod that an extender refused "
                      "waiting for five minutes, whatever happens; Binnacle needs 1.30 or newer",
                      version));
    }
  }
  return invalid(fmt::format("{} is not a version of Kubernetes: write it as 1.34", version));
}

result<void> check(const scheduler_wiring& w) {
  duration waits{};
  if (!parse_duration(w.timeout, waits) || waits <= duration::zero())
    return invalid(fmt::format("--timeout {} is not a duration such as 500ms", w.timeout));
  if (w.weight < 1)
    return invalid(fmt::format("--weight {}: kube-scheduler takes whole numbers from 1 on", w.weight));
  if (w.percent_of_nodes && (*w.percent_of_nodes < 0 || *w.percent_of_nodes > 100)) {
    return invalid(
        fmt::format("--percentage-of-nodes {}: kube-scheduler takes 0 (its own choice) to 100 (all)",
                    *w.percent_of_nodes));
  }
  if (!w.url.starts_with("https://") && !w.url.starts_with("http://"))
    return invalid(fmt::format("--url {}: write it as https://HOST:9001", w.url));
  return {};
}

YAML::Node extender_of(const scheduler_wiring& w) {
  YAML::Node out;
  const bool secure = w.url.starts_with("https://");
  out["urlPrefix"] = w.url;
  out["filterVerb"] = "scheduler/filter";
  out["prioritizeVerb"] = "scheduler/prioritize";
  out["preemptVerb"] = "scheduler/preempt";
  out["weight"] = w.weight;
  out["nodeCacheCapable"] = true;
  out["enableHTTPS"] = secure;
  out["ignorable"] = !w.required;
  out["httpTimeout"] = w.timeout;
  YAML::Node resource;
  resource["name"] = "telemetry/scheduling";
  resource["ignoredByScheduler"] = true;
  out["managedResources"].push_back(resource);
  if (secure) {
    out["tlsConfig"]["caFile"] = w.ca;
    out["tlsConfig"]["certFile"] = w.certificate;
    out["tlsConfig"]["keyFile"] = w.key;
  }
  return out;
}

/// Whether JSON allows `text` as a number. YAML has further forms (.inf, 007, .5).
bool is_json_number(const std::string& text) {
  boost::system::error_code ec;
  const auto value = boost::json::parse(text, ec);
  return !ec && value.is_number();
}

void write_json(json_writer& out, const YAML::Node& n) {
  if (n.IsMap()) {
    out.begin_object();
    for (const auto& member : n) {
      out.key(member.first.Scalar());
      write_json(out, member.second);
    }
    out.end_object();
  } else if (n.IsSequence()) {
    out.begin_array();
    for (const auto& item : n) write_json(out, item);
    out.end_array();
  } else if (n.IsNull()) {
    out.null();
  } else {
    const std::string& text = n.Scalar();
    if (!is_quoted(n) && (text == "true" || text == "false" || is_json_number(text))) {
      out.raw(text);
    } else {
      out.value(text);
    }
  }
}

std::string text_of(const YAML::Node& config, bool json) {
  std::string out;
  if (json) {
    json_writer w(out);
    write_json(w, config);
    return pretty_json(out) + '\n';
  }
  return yaml_text(config);
}

std::string scalar(const YAML::Node& map, const char* key) {
  const YAML::Node value = map.IsMap() ? map[key] : YAML::Node();
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

bool is_ours(const YAML::Node& extender, const scheduler_wiring& w) {
  return scalar(extender, "urlPrefix") == w.url || telemetry_resource(extender).IsDefined();
}

/// Whether a profile sets ignoredResources. kube-scheduler replaces that list with the resources that
/// extenders ignore (ignoredByScheduler).
bool leaves_out_resources(const YAML::Node& config) {
  for (const auto& profile : config["profiles"]) {
    if (!profile.IsMap()) continue;
    for (const auto& plugin : profile["pluginConfig"]) {
      const YAML::Node args = plugin.IsMap() ? plugin["args"] : YAML::Node();
      if (args && args.IsMap() && args["ignoredResources"]) return true;
    }
  }
  return false;
}

constexpr const char* nodes_looked_at = "percentageOfNodesToScore";

/// Whether kube-scheduler chooses the share of nodes itself. Above 100 nodes it then looks at only some nodes
/// for each pod, and at others for the next pod.
bool samples_nodes(const YAML::Node& config) {
  const auto left_to_it = [](const YAML::Node& where) {
    const std::string percent = scalar(where, nodes_looked_at);
    return percent.empty() || percent == "0";
  };
  if (!left_to_it(config)) return false;
  for (const auto& profile : config["profiles"]) {
    if (!left_to_it(profile)) return false;
  }
  return true;
}

std::vector<std::string> remarks_on(const scheduler_wiring& w) {
  std::vector<std::string> out;
  if (w.url.starts_with("http://"))
    out.emplace_back("without TLS anybody may answer kube-scheduler: give an https URL");
  if (w.weight * 10 <= 500) {
    out.push_back(
        fmt::format("with weight {} one point of a score is worth {} of the up to 500 that kube-scheduler's "
                    "own plug-ins add "
                    "unasked: a preferred node may lose; 51 or more is safe",
                    w.weight, w.weight * 10));
  }
  return out;
}

}  // namespace

result<made_config> second_scheduler(const scheduler_wiring& w, bool json) {
  if (const auto minor = minor_of(w.kubernetes); minor.has_error()) return minor.error();
  if (const auto sound = check(w); sound.has_error()) return sound.error();
  YAML::Node config;
  config["apiVersion"] = group;
  config["kind"] = "KubeSchedulerConfiguration";
  // This is for one replica. Several replicas need a Lease of their own, not that of the cluster's scheduler.
  config["leaderElection"]["leaderElect"] = false;
  config[nodes_looked_at] = w.percent_of_nodes.value_or(100);
  YAML::Node profile;
  profile["schedulerName"] = w.name;
  config["profiles"].push_back(profile);
  config["extenders"].push_back(extender_of(w));
  return made_config{text_of(config, json), remarks_on(w)};
}

result<made_config> patched_scheduler(const scheduler_wiring& w, const std::string& before,
                                      const std::string& file, bool json) {
  if (const auto minor = minor_of(w.kubernetes); minor.has_error()) return minor.error();
  if (const auto sound = check(w); sound.has_error()) return sound.error();
  try {
    YAML::Node config = load_yaml(before);
    if (scalar(config, "kind") != "KubeSchedulerConfiguration") {
      return invalid(
          fmt::format("{} is not a KubeSchedulerConfiguration: name the file that kube-scheduler's --config "
                      "names; if it has none, take the output without --patch and set schedulerName: "
                      "default-scheduler (--name)",
                      file));
    }
    if (const std::string version = scalar(config, "apiVersion"); version != group) {
      return invalid(fmt::format("{} is of {}, which Kubernetes {} does not read any more: make it {}", file,
                                 version, w.kubernetes, group));
    }
    made_config out;
    out.remarks = remarks_on(w);
    YAML::Node extenders;
    for (const auto& e : config["extenders"]) {
      if (is_ours(e, w)) {
        out.remarks.push_back(
            fmt::format("the extender {} was there and is replaced", scalar(e, "urlPrefix")));
      } else {
        extenders.push_back(e);
      }
    }
    extenders.push_back(extender_of(w));
    config["extenders"] = extenders;
    if (w.percent_of_nodes) config[nodes_looked_at] = *w.percent_of_nodes;
    if (samples_nodes(config)) {
      out.remarks.emplace_back(
          "percentageOfNodesToScore is not set: above 100 nodes kube-scheduler looks at a part of them for a "
          "pod, and the best node may not be among them. --percentage-of-nodes 100 lets it look at all, for "
          "more CPU time for each pod of this scheduler");
    }
    if (leaves_out_resources(config)) {
      out.remarks.emplace_back(
          "a profile sets ignoredResources of NodeResourcesFit: kube-scheduler puts telemetry/scheduling in "
          "their "
          "place, so the others count again");
    }
    out.remarks.emplace_back(
        "kube-scheduler's pod must see the three files of tlsConfig, and, if it has the host's network and "
        "the URL "
        "is a name of the cluster, dnsPolicy: ClusterFirstWithHostNet");
    out.text = text_of(config, json);
    return out;
  } catch (const YAML::Exception& e) {
    return invalid(fmt::format("{}:{}: {}", file, e.mark.line + 1, e.msg));
  }
}

int scheduler_config_command(const connection& to, const scheduler_config_arguments& what,
                             const terminal& on) {
  if (!what.verify.empty()) {
    doctor::doctor_arguments ask;
    ask.only = {"certificates", "extender"};
    ask.scheduler_config = what.verify;
    return doctor::doctor_command(to, ask, on);
  }
  result<made_config> made = invalid("");
  if (what.patch.empty()) {
    made = second_scheduler(what.wiring, on.json);
  } else {
    const auto before = input_file(what.patch, 1u << 20);
    const std::string name = what.patch == "-" ? "<stdin>" : what.patch;
    made = before.has_error() ? invalid(name + " " + before.error().message)
                              : patched_scheduler(what.wiring, *before, name, on.json);
  }
  if (made.has_error()) {
    on.err << "binnacle: " << made.error().message << '\n';
    return exit_usage;
  }
  on.out << made->text;
  for (const std::string& remark : made->remarks) on.err << "binnacle: note: " << remark << '\n';
  return exit_ok;
}

}  // namespace binnacle::cli
