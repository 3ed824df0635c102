// Migrates WAO: the objects and labels that say which model a node has, its scheduler, and the pods that it
// places.
#include "aggregator/model_servers/node_config.hpp"
#include "aggregator/model_servers/node_model.hpp"
#include "aggregator/model_servers/node_template.hpp"
#include "aggregator/spread/rate.hpp"
#include "cli/migrate/migration.hpp"
#include "common/async/network.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::cli::migrate {
namespace {

namespace json = boost::json;
using model_servers::node_model;

constexpr std::string_view policy_name = "fewer-watts";
constexpr std::array<std::string_view, 2> groups{"node.waok8s.github.io", "wao.bitmedia.co.jp"};

bool has_group(std::string_view text) {
  return std::ranges::any_of(groups, [text](std::string_view g) { return text.find(g) != text.npos; });
}

/// YAML as JSON in which every scalar is a string.
json::value as_json_value(const YAML::Node& from, unsigned depth = 0) {
  constexpr unsigned deepest = 20;
  if (depth == deepest) return nullptr;
  if (from.IsMap()) {
    json::object out;
    for (const auto& one : from) {
      if (one.first.IsScalar()) out[one.first.Scalar()] = as_json_value(one.second, depth + 1);
    }
    return out;
  }
  if (from.IsSequence()) {
    json::array out;
    for (const auto& one : from) out.push_back(as_json_value(one, depth + 1));
    return out;
  }
  return from.IsScalar() ? json::value(from.Scalar()) : json::value(nullptr);
}

json::object spec_of(const manifest& m) {
  const json::value out = as_json_value(below(m.body, "spec"));
  return out.is_object() ? out.get_object() : json::object();
}

// The first part: which model a node has.

std::string name_space_of(const manifest& m) { return m.name_space.empty() ? "default" : m.name_space; }

/// Whether the aggregator may read the Secret of an object in this namespace. It reads those of one namespace
/// only, that of the first object that names one.
bool reads_secrets_of(const std::string& name_space, const std::string& secret, const std::string& whose,
                      migration& out) {
  std::string& first = out.wao.secrets_from;
  if (first.empty()) first = name_space;
  if (first == name_space) return true;
  out.yours(whose, fmt::format("{} not read, only those of the namespace {}: move object and Secret there",
                               secret, first));
  return false;
}

/// Lets the aggregator read the Secret "NAMESPACE/NAME".
void allow_secret(const std::string& secret, const std::string& whose, migration& out) {
  if (secret.empty()) return;
  const auto slash = secret.find('/');
  const std::string name_space = secret.substr(0, slash), name = secret.substr(slash + 1);
  if (!reads_secrets_of(name_space, fmt::format("its Secret {} is", secret), whose, out)) return;
  YAML::Node may = out.values["aggregator"]["modelServersSecrets"];
  may["namespace"] = name_space;
  for (const auto& known : may["names"]) {
    if (known.Scalar() == name) return;
  }
  may["names"].push_back(name);
  out.carried(
      whose,
      fmt::format("aggregator.modelServersSecrets: the Secret {}, which may be read from now on", secret));
}

void tell_of_authority(const std::string& server, const std::string& whose, migration& out) {
  out.yours(whose,
            fmt::format("{} speaks TLS: if no public authority signed its certificate, put the authority "
                        "into a Secret and name that in aggregator.modelServersCa",
                        server));
}

/// Lets the aggregator ask a server. False: it is in the list already.
bool allow_server(const std::string& server, bool secure, const std::string& whose, migration& out) {
  YAML::Node list = out.values["aggregator"]["modelServers"];
  for (const auto& known : list) {
    if (known.Scalar() == server) return false;
  }
  list.push_back(server);
  out.carried(whose, fmt::format("aggregator.modelServers: {}, which may be asked from now on", server));
  if (secure) tell_of_authority(server, whose, out);
  return true;
}

void allow_model(const node_model& m, const std::string& whose, migration& out) {
  const std::string server = m.model.server();
  const bool is_new = allow_server(server, m.model.secure, whose, out);
  if (is_new && m.model.speaks == model_servers::protocol::tf_serving &&
      m.model.by == model_servers::carrier::rest)
    out.yours(
        whose,
        fmt::format(
            "{0} is the usual address of TensorFlow Serving's REST API, and is asked by that: start it with "
            "--rest_api_port={1}, or give the port of its gRPC",
            server, m.model.port));
}

/// Whether an endpoint is written down. Beside a provider it may be missing.
bool is_written(const node_model& m) { return !m.model.host.empty(); }

/// Which server a provider will name is not known here.
void tell_of_provided_servers(migration& out) {
  out.once(note::fate::yours, "powerConsumptionEndpointProvider",
           "is asked as by WAO. The server of the model that it names must be in aggregator.modelServers, "
           "too: add it, or wait for the event on the object that names it");
}

/// Says what to do about the parts of a NodeConfig that are not asked. `where`: "spec.", or "spec.template.".
void take_unasked(const manifest& m, const std::string& where, migration& out) {
  const auto type = [&](std::string_view collector) {
    return text_of(m.body, fmt::format("{}metricsCollector.{}.type", where, collector));
  };
  if (type("inletTemp") == "Redfish") {
    out.once(note::fate::dropped, "metricsCollector.inletTemp of type Redfish",
             "the agents read the inlet temperature from their own BMCs (agent.ipmi.enabled) or sensors");
  }
  if (type("deltaP") == "DifferentialPressureAPI") {
    out.once(
        note::fate::yours, "metricsCollector.deltaP of type DifferentialPressureAPI",
        "is not asked: bring delta_p by an exporter on the nodes or a *.prom file (agent.textfileDirectory); "
        "without it 5 Pa stand for it");
  }
}

bool is_node_config(const manifest& m) {
  return m.kind == "NodeConfig" && has_group(text_of(m.body, "apiVersion"));
}

/// Its place among the NodeConfigs for one node.
wao_findings::config place_of(const manifest& m) {
  const bool is_new = text_of(m.body, "apiVersion").find(groups[0]) != std::string::npos;
  return {is_new ? 0U : 1U, name_space_of(m), m.name};
}

/// Notes which NodeConfig counts for a node, as model_servers::node_configs says it. One that names no model
/// is passed over.
void note_node_config(const manifest& m, migration& out) {
  const std::string node = text_of(m.body, "spec.nodeName");
  if (node.empty() || model_servers::read_node_config("", name_space_of(m), spec_of(m)).model.has_error())
    return;
  const auto place = place_of(m);
  const auto [at, is_new] = out.wao.config_of.try_emplace(node, place);
  if (!is_new) at->second = std::min(at->second, place);
}

bool take_node_config(const manifest& m, migration& out) {
  if (!is_node_config(m)) return false;
  const auto read = model_servers::read_node_config(m.title(), name_space_of(m), spec_of(m));
  const std::string node = text_of(m.body, "spec.nodeName");
  const auto counts = out.wao.config_of.find(node);
  if (read.model.has_error()) {
    out.yours(m.title(), read.model.error().message);
  } else if (counts != out.wao.config_of.end() && counts->second != place_of(m)) {
    const auto& first = counts->second;
    out.yours(fmt::format("{} ({})", m.title(), text_of(m.body, "apiVersion")),
              fmt::format("NodeConfig {}/{} ({}) is for the node {}, too, and goes before it: delete one of "
                          "them",
                          first.name_space, first.name, groups[first.group], node));
  } else {
    const node_model& model = *read.model;
    if (model.provider) {
      allow_server(model.provider->server(), model.provider->secure, m.title(), out);
      allow_secret(model.provider->secret, m.title(), out);
      tell_of_provided_servers(out);
    }
    if (is_written(model)) allow_model(model, m.title(), out);
    allow_secret(model.model.secret, m.title(), out);
    if (!model.remark.empty()) out.yours(m.title(), model.remark);
    ++out.wao.objects;
  }
  take_unasked(m, "spec.", out);
  return true;
}

/// Takes the models that a template gives to two nodes. What they have in common is carried over; what each
/// node has of its own is left to a person.
void take_models(const node_model& one, const node_model& other, const manifest& m, migration& out) {
  const std::string whose = m.title();
  const auto each_has = [&](std::string_view what, const auto& its, const auto& of_other) {
    const bool share_suffix = its.port == of_other.port && !async::address_of(its.host);
    out.yours(whose, fmt::format("each node has {} of its own: name them in aggregator.modelServers, as "
                                 "HOST:PORT{}",
                                 what, share_suffix ? fmt::format(" or as *.SUFFIX:{}", its.port) : ""));
    if (its.secure) tell_of_authority("each of them", whose, out);
  };
  const auto take_secret = [&](const std::string& its, const std::string& of_other) {
    if (its == of_other) return allow_secret(its, whose, out);
    if (!reads_secrets_of(name_space_of(m), "its Secrets are", whose, out)) return;
    out.yours(whose, fmt::format("each node has a Secret of its own: give aggregator.modelServersSecrets "
                                 "their namespace, {}, and their names; without names all Secrets there may "
                                 "be read",
                                 name_space_of(m)));
  };
  if (one.provider) {
    const auto& its = *one.provider;
    if (other.provider && its.server() == other.provider->server()) {
      allow_server(its.server(), its.secure, whose, out);
    } else {
      each_has("an endpoint provider", its, other.provider.value_or(its));
    }
    take_secret(its.secret, other.provider ? other.provider->secret : std::string());
    tell_of_provided_servers(out);
  }
  if (is_written(one)) {
    if (one.model.server() == other.model.server()) {
      allow_model(one, whose, out);
    } else {
      each_has("a server", one.model, other.model);
    }
  }
  take_secret(one.model.secret, other.model.secret);
}

bool take_template(const manifest& m, migration& out) {
  if (m.kind != "NodeConfigTemplate" || !has_group(text_of(m.body, "apiVersion"))) return false;
  const auto read = model_servers::node_template::read({name_space_of(m), m.name}, spec_of(m));
  if (read.has_error()) {
    out.yours(m.title(), read.error().message);
    take_unasked(m, "spec.template.", out);
    return true;
  }
  const auto one = read->model_of({"one.example.com", "192.0.2.1"});
  const auto other = read->model_of({"other.example.com", "192.0.3.2"});
  if (one.model.has_error()) {
    out.yours(m.title(), one.model.error().message);
  } else {
    take_models(*one.model, other.model.has_value() ? *other.model : node_model(), m, out);
    if (!one.model->remark.empty()) out.yours(m.title(), one.model->remark);
    ++out.wao.objects;
  }
  take_unasked(m, "spec.template.", out);
  return true;
}

/// Reads the labels that WAO's first version put on a Node. A Node without these labels is not WAO's.
bool take_node(const manifest& m, migration& out) {
  if (m.kind != "Node") return false;
  const YAML::Node labels = below(m.body, "metadata.labels");
  std::map<std::string, std::string, std::less<>> all;
  if (labels.IsMap()) {
    for (const auto& one : labels) {
      if (one.second.IsScalar()) all[one.first.Scalar()] = one.second.Scalar();
    }
  }
  const auto read =
      model_servers::model_by_labels([&all](std::string_view key) -> std::optional<std::string_view> {
        const auto at = all.find(key);
        return at == all.end() ? std::nullopt : std::optional<std::string_view>(at->second);
      });
  if (!read) return true;
  if (read->has_error()) {
    out.yours(m.title(), read->error().message);
  } else {
    allow_model(**read, m.title(), out);
    if (const std::string& remark = (*read)->remark; !remark.empty()) out.yours(m.title(), remark);
    ++out.wao.nodes;
  }
  return true;
}

// The second part: WAO's scheduler.

bool is_of_version_2(std::string_view name) { return name == "MinimizePower"; }
bool is_power_plugin(std::string_view name) {
  return is_of_version_2(name) || name == "oc-score-plugin" || name == "wao-score-plugin";
}
bool is_spread_plugin(std::string_view name) { return name == "PodSpread"; }

/// Calls `f(plugin)` for every plug-in that a profile enables.
template <class F>
void each_enabled(const YAML::Node& profile, F&& f) {
  const YAML::Node points = below(profile, "plugins");
  if (!points.IsMap()) return;
  for (const auto& point : points) {
    const YAML::Node enabled = below(point.second, "enabled");
    if (!enabled.IsSequence()) continue;
    for (const auto& plugin : enabled) f(plugin);
  }
}

/// Whether the profile enables a plug-in with such a name.
template <class F>
bool has_plugin(const YAML::Node& profile, F&& is) {
  bool yes = false;
  each_enabled(profile, [&](const YAML::Node& p) { yes = yes || is(text_of(p, "name")); });
  return yes;
}

std::string name_of_profile(const YAML::Node& profile) {
  const std::string name = text_of(profile, "schedulerName");
  return name.empty() ? "default-scheduler" : name;
}

/// The scheduler that the chart installs with the values.
std::string name_of_the_charts(const migration& m) {
  const std::string name = text_of(m.values, "scheduler.name");
  return name.empty() ? "binnacle-scheduler" : name;
}

/// The arguments of the profile's plug-in that goes by watts; a null node if there are none.
YAML::Node arguments_of(const YAML::Node& profile) {
  YAML::Node args;
  if (const auto all = below(profile, "pluginConfig"); all.IsSequence()) {
    for (const auto& one : all) {
      if (is_power_plugin(text_of(one, "name"))) args.reset(below(one, "args"));
    }
  }
  return args;
}

/// The form in which models of WAO's second version get the load. Those of the first take shares of it, and
/// their profiles know no format.
std::string format_in(const YAML::Node& args) {
  return text_of(args, "cpuUsageFormat") == "Percent" ? "Percent" : "Raw";
}

void take_format(const YAML::Node& profile, const std::string& whose, migration& out) {
  const std::string format = format_in(arguments_of(profile));
  const std::string known = text_of(out.wao.strategy, "cpuFormat");
  if (!known.empty() && known != format) {
    out.yours(whose + ", cpuUsageFormat",
              fmt::format("is {0}, but the policy already has {1}, from another profile: give the pods of "
                          "this profile a policy of their own, with cpuFormat: {0}",
                          format, known));
    out.wao.other_formats.emplace(name_of_profile(profile), format);
    return;
  }
  out.wao.strategy["cpuFormat"] = format;
  out.carried(whose + ", cpuUsageFormat",
              "the strategy's cpuFormat; WAO's default is Raw, Binnacle's Percent");
}

void take_arguments(const YAML::Node& profile, const std::string& whose, migration& out) {
  const YAML::Node args = arguments_of(profile);
  // WAO's second version takes its share of the pods that are on their way alone, and counts the pod that it
  // places in full. BestChord, the objective of the policy, takes it of that pod, too. The first version
  // knows no share.
  const std::string share = text_of(args, "podUsageAssumption");
  const bool unset = share.empty() || share == "0" || share == "0.0";  // to WAO the same
  if (has_plugin(profile, is_of_version_2)) {
    out.dropped(
        whose + ", podUsageAssumption",
        fmt::format(
            "was {0}{1}. WAO takes this share of the pods that are on their way alone, and counts the pod "
            "that it places in full; BestChord takes it of that pod, too. So the default 1 stays. With "
            "objective: WaoV2 it means what it does to WAO: podUsageAssumption: {0}",
            unset ? "0.5" : share, unset ? ", WAO's default" : ""));
    take_format(profile, whose, out);
  }
  for (const char* ttl : {"metricsCacheTTL", "predictorCacheTTL"}) {
    if (!text_of(args, ttl).empty())
      out.dropped(whose + ", " + ttl,
                  "values are used as they are measured, and a curve is asked again every 15 minutes");
  }
}

void take_profile(const YAML::Node& profile, const std::string& whose, migration& out) {
  take_arguments(profile, whose, out);
  each_enabled(profile, [&](const YAML::Node& plugin) {
    const std::string name = text_of(plugin, "name"), weight = text_of(plugin, "weight");
    if (is_spread_plugin(name)) {
      out.once(
          note::fate::carried, whose + ", PodSpread",
          "the extender's filter does it, for pods with the annotation podspread-rate of their own or of "
          "their Deployment");
    } else if (is_power_plugin(name) && !weight.empty()) {
      out.dropped(fmt::format("{}, weight {} of {}", whose, weight, name),
                  "the extender's is scheduler.weight, 100: with it one point of its scores outweighs what "
                  "kube-scheduler's own plug-ins add. A lower one makes them count more");
    }
  });
  const std::string name = name_of_profile(profile);
  if (name == "default-scheduler") {
    out.yours(whose,
              "the cluster's own scheduler has WAO's plug-ins: give it its former image and configuration "
              "again, and let pods ask for schedulerName: binnacle-scheduler");
  } else if (text_of(out.values, "scheduler.name").empty()) {
    out.values["scheduler"]["name"] = name;
    out.carried(whose, "scheduler.name: pods go on asking for that scheduler");
  } else {
    out.yours(whose, fmt::format("the chart has one scheduler, {}: let its pods ask for that",
                                 name_of_the_charts(out)));
  }
}

/// The profiles of `m` that have such a plug-in.
template <class F>
std::vector<YAML::Node> profiles_with(const manifest& m, F&& is) {
  std::vector<YAML::Node> out;
  const auto all = below(m.body, "profiles");
  for (std::size_t i = 0; all.IsSequence() && i < all.size(); ++i) {
    if (has_plugin(all[i], is)) out.push_back(all[i]);
  }
  return out;
}

bool take_scheduler(const manifest& m, migration& out) {
  if (m.kind != "KubeSchedulerConfiguration") return false;
  const auto whose = [&m](const YAML::Node& profile) {
    return fmt::format("{}, profile {}", m.title(), name_of_profile(profile));
  };
  const auto by_watts = profiles_with(m, is_power_plugin);
  for (const YAML::Node& profile : by_watts) {
    out.wao.schedulers.insert(name_of_profile(profile));
    if (profile.is(by_watts.front())) {
      take_share_of_nodes(m, profile, out);
    } else if (const auto share = text_of(profile, "percentageOfNodesToScore"); !share.empty()) {
      out.yours(whose(profile) + ", percentageOfNodesToScore",
                fmt::format("is {}, and not carried over: the chart has one scheduler, and its "
                            "scheduler.percentageOfNodesToScore is that of the first profile",
                            share));
    }
    take_profile(profile, whose(profile), out);
  }
  bool any = !by_watts.empty();
  for (const YAML::Node& profile : profiles_with(m, is_spread_plugin)) {
    if (has_plugin(profile, is_power_plugin)) continue;
    any = true;
    out.wao.spreaders.insert(name_of_profile(profile));
    out.yours(whose(profile),
              "has PodSpread and no MinimizePower. The filter of the chart's extender spreads pods without a "
              "policy: let the profile's pods ask for the chart's scheduler");
  }
  if (!any) return false;
  if (below(m.body, "clientConnection").IsMap())
    out.dropped(m.title() + ", clientConnection", "no call to the API server is made for a pod");
  if (below(m.body, "extenders").IsSequence()) migrate_scheduler(m, out);
  return true;
}

// The third part: WAO's own programs, and the pods that its scheduler places.

std::string annotation(const YAML::Node& object, const std::string& key) {
  const YAML::Node all = below(object, "metadata.annotations");  // not below(): the key has dots in it
  const YAML::Node value = all.IsMap() ? all[key] : YAML::Node();
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

std::string spread_rate(const YAML::Node& object) {
  for (const std::string_view name : spread::annotations) {
    if (std::string rate = annotation(object, std::string(name)); !rate.empty()) return rate;
  }
  return {};
}

/// What the pods of one of WAO's schedulers need from now on.
std::string needs_of(const std::string& scheduler, const migration& m) {
  std::vector<std::string> needs;
  if (m.wao.schedulers.contains(scheduler)) {
    const auto other = m.wao.other_formats.find(scheduler);
    const auto policy =
        other == m.wao.other_formats.end()
            ? std::string(policy_name)
            : fmt::format("NAME, of a policy as {} but with cpuFormat: {}", policy_name, other->second);
    needs.push_back("the label telemetry-policy: " + policy);
  }
  needs.emplace_back("in one container the limit telemetry/scheduling: \"0\"");
  if (const auto charts = name_of_the_charts(m); scheduler != charts)
    needs.push_back("schedulerName: " + charts);
  return fmt::format("give its pods {}", fmt::join(needs, ", and "));
}

bool take_workload(const manifest& m, migration& out) {
  const YAML::Node pods = pod_template_of(m);
  const std::string scheduler = text_of(pods, "spec.schedulerName");
  const bool by_watts = out.wao.schedulers.contains(scheduler);
  if (scheduler.empty() || (!by_watts && !out.wao.spreaders.contains(scheduler))) return false;
  if (by_watts && !out.wao.other_formats.contains(scheduler)) out.wao.namespaces.insert(name_space_of(m));
  out.yours(m.title(), needs_of(scheduler, out));
  const bool on_pods = !spread_rate(pods).empty();
  for (const YAML::Node& object : {m.body, pods}) {
    const std::string rate = spread_rate(object);
    if (rate.empty()) continue;
    const bool is_spread = m.kind == "Deployment" || m.kind == "ReplicaSet";
    if (is_spread && !spread::parse_rate(rate))
      out.yours(m.title() + ", podspread-rate " + rate,
                "is no number from 0 to 1, so nothing is spread by it: write the share, as 0.6");
    else if (is_spread)
      out.works(m.title() + ", podspread-rate " + rate,
                on_pods ? "the extender's filter spreads the first pods by it"
                        : "the extender's filter spreads the first pods by it. WAO did not: it wanted the "
                          "annotation on the pods, too");
    else
      out.yours(
          m.title() + ", podspread-rate " + rate,
          "does nothing, as with WAO: only pods of a Deployment or ReplicaSet are spread. Give its pods "
          "topologySpreadConstraints");
    break;
  }
  return true;
}

bool take_own(const manifest& m, migration& out) {
  if (m.kind == "CustomResourceDefinition" && has_group(m.name)) {
    out.works(m.title(), "its objects are read as they are; keep it as long as they are to count");
    return true;
  }
  const std::string images = images_of(m);
  const bool workload = m.kind == "Deployment" || m.kind == "DaemonSet" || m.kind == "StatefulSet";
  if (workload && images.find("metrics-server") != images.npos) {
    out.works(m.title(), "Binnacle does not need it; `kubectl top` and autoscalers by CPU do");
    return true;
  }
  if (workload && images.find("tensorflow/serving") != images.npos) {
    out.works(m.title(), "its models are asked as before, by gRPC");
    return true;
  }
  if (!m.name.starts_with("wao-") && images.find("waok8s") == images.npos) return false;
  const bool is_asked = std::ranges::any_of(
      std::array{"mlmm", "wao-pred", "mlserver", "triton"},
      [&images](std::string_view program) { return images.find(program) != images.npos; });
  if (workload && is_asked) {
    out.works(m.title(), "is asked as before, if its server is in aggregator.modelServers: keep it");
    return true;
  }
  if (m.kind == "Namespace") {
    out.works(m.title(), "keep it while NodeConfig objects, their Secrets or model servers are in it");
  } else if (m.kind == "Secret" || m.kind == "Service") {
    out.yours(m.title(),
              fmt::format("keep it if {}; else delete it with WAO",
                          m.kind == "Secret" ? "a NodeConfig names it"
                                             : "it leads to a model server or an endpoint provider"));
  } else if (!workload) {
    out.dropped(m.title(), "belongs to WAO: delete it with WAO");
  } else if (m.name.find("loadbalancer") != m.name.npos) {
    out.yours(m.title(), "has no counterpart: kube-proxy shares connections out evenly; it may stay");
  } else {
    out.yours(
        m.title(),
        "is not needed any more: scale it to 0 before the chart is installed (a scheduler answers to the "
        "same name as the chart's), and delete it when Binnacle places the pods");
  }
  return true;
}

}  // namespace

void find_wao(std::span<const manifest> installed, migration& out) {
  for (const manifest& m : installed) {
    if (is_node_config(m)) note_node_config(m, out);
  }
}

bool migrate_wao(const manifest& m, migration& out) {
  return take_node_config(m, out) || take_template(m, out) || take_node(m, out) || take_scheduler(m, out) ||
         take_workload(m, out) || take_own(m, out);
}

void finish_wao(migration& out) {
  const auto& w = out.wao;
  if (w.objects > 0)
    out.works(fmt::format("{} NodeConfig and NodeConfigTemplate objects", w.objects),
              "are read as they are; WAO's controller need not run");
  if (w.nodes > 0)
    out.works(
        fmt::format("labels of {} nodes", w.nodes),
        "tensorflow/…, ambient/… and cpu1/… are read as they are, and the models asked by gRPC as before");
  if (w.objects + w.nodes == 0 && w.schedulers.empty()) return;
  const std::set<std::string> everywhere =
      w.namespaces.empty() ? std::set<std::string>{"default"} : w.namespaces;
  for (const std::string& name_space : everywhere) {
    YAML::Node policy(YAML::NodeType::Map);
    policy["apiVersion"] = "telemetry.intel.com/v1alpha1";
    policy["kind"] = "TASPolicy";
    policy["metadata"]["name"] = std::string(policy_name);
    policy["metadata"]["namespace"] = name_space;
    policy["spec"]["strategies"]["minimizepower"] = YAML::Clone(w.strategy);
    out.objects.push_back(policy);
  }
  if (w.objects > 0 && !w.strategy["cpuFormat"]) {
    out.yours(fmt::format("TASPolicy {}, cpuFormat", policy_name),
              w.schedulers.empty()
                  ? "is Percent, Binnacle's default, because no file holds the configuration of WAO's "
                    "scheduler, and no workload is named for the same reason: give the ConfigMap, too. "
                    "WAO's default is Raw, for models that take cores"
                  : "is Percent, Binnacle's default, because no profile has WAO's second version: if the "
                    "models of the NodeConfigs take cores, write cpuFormat: Raw");
  }
  out.yours(
      fmt::format("TASPolicy {}", policy_name),
      fmt::format("apply the policy below in each namespace of pods that it is to place (here: {}). Its mode "
                  "may be DryRun at first",
                  fmt::join(everywhere, ", ")));
}

}  // namespace binnacle::cli::migrate
