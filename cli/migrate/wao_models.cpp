// Migrates which model a node has: WAO's NodeConfig and NodeConfigTemplate objects, and its labels of nodes.
#include "aggregator/model_servers/node_config.hpp"
#include "aggregator/model_servers/node_model.hpp"
#include "aggregator/model_servers/node_template.hpp"
#include "cli/migrate/wao.hpp"
#include "common/async/network.hpp"
#include "common/text/text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::cli::migrate {
namespace {

namespace json = boost::json;
using model_servers::node_model;

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

/// Lets the aggregator read the Secret "NAMESPACE/NAME". False: it will not be read.
bool allow_secret(const std::string& secret, const std::string& whose, migration& out) {
  if (secret.empty()) return true;
  const auto slash = secret.find('/');
  const std::string name_space = secret.substr(0, slash), name = secret.substr(slash + 1);
  if (!reads_secrets_of(name_space, fmt::format("its Secret {} is", secret), whose, out)) return false;
  YAML::Node may = out.values["aggregator"]["modelServersSecrets"];
  may["namespace"] = name_space;
  for (const auto& known : may["names"]) {
    if (known.Scalar() == name) return true;
  }
  may["names"].push_back(name);
  out.carried(
      whose,
      fmt::format("aggregator.modelServersSecrets: the Secret {}, which may be read from now on", secret));
  return true;
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
  return m.kind == "NodeConfig" && has_wao_group(text_of(m.body, "apiVersion"));
}

/// Its place among the NodeConfigs for one node.
wao_findings::config place_of(const manifest& m) {
  const bool is_new =
      text_of(m.body, "apiVersion").find(model_servers::node_config_groups[0]) != std::string::npos;
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
  if (node.empty()) {
    out.yours(m.title(), "names no node, so that it does nothing: write spec.nodeName, or delete it");
  } else if (read.model.has_error()) {
    out.yours(m.title(), read.model.error().message);
  } else if (counts != out.wao.config_of.end() && counts->second != place_of(m)) {
    const auto& first = counts->second;
    out.yours(
        fmt::format("{} ({})", m.title(), text_of(m.body, "apiVersion")),
        fmt::format("NodeConfig {}/{} ({}) is for the node {}, too, and goes before it: delete one of "
                    "them",
                    first.name_space, first.name, model_servers::node_config_groups[first.group], node));
  } else {
    const node_model& model = *read.model;
    bool is_whole = true;
    if (model.provider) {
      allow_server(model.provider->server(), model.provider->secure, m.title(), out);
      is_whole = allow_secret(model.provider->secret, m.title(), out);
      tell_of_provided_servers(out);
    }
    if (is_written(model)) allow_model(model, m.title(), out);
    is_whole = allow_secret(model.model.secret, m.title(), out) && is_whole;
    if (!model.remark.empty()) out.yours(m.title(), model.remark);
    if (is_whole) ++out.wao.objects;
  }
  take_unasked(m, "spec.", out);
  return true;
}

/// Takes the models that a template gives to two nodes. What they have in common is carried over; what each
/// node has of its own is left to a person. False: a Secret of it will not be read.
bool take_models(const node_model& one, const node_model& other, const manifest& m, migration& out) {
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
    if (!reads_secrets_of(name_space_of(m), "its Secrets are", whose, out)) return false;
    out.yours(whose, fmt::format("each node has a Secret of its own: give aggregator.modelServersSecrets "
                                 "their namespace, {}, and their names; without names all Secrets there may "
                                 "be read",
                                 name_space_of(m)));
    return true;
  };
  bool is_whole = true;
  if (one.provider) {
    const auto& its = *one.provider;
    if (other.provider && its.server() == other.provider->server()) {
      allow_server(its.server(), its.secure, whose, out);
    } else {
      each_has("an endpoint provider", its, other.provider.value_or(its));
    }
    is_whole = take_secret(its.secret, other.provider ? other.provider->secret : std::string());
    tell_of_provided_servers(out);
  }
  if (is_written(one)) {
    if (one.model.server() == other.model.server()) {
      allow_model(one, whose, out);
    } else {
      each_has("a server", one.model, other.model);
    }
  }
  return take_secret(one.model.secret, other.model.secret) && is_whole;
}

/// Two nodes that have nothing in common: no part of the hostname, and no octet of the address. What a
/// template gives to both does not depend on the node. No octet is 0, which is no port.
constexpr std::array sample_nodes{model_servers::template_values{"one.example", "198.51.100.7"},
                                  model_servers::template_values{"other.test", "10.20.30.40"}};

/// Names the actions of a template's text that use a value of the node and give all nodes the same.
void tell_of_constants(std::string_view text, const std::string& whose, migration& out) {
  for (auto begin = text.find("{{"); begin != text.npos; begin = text.find("{{", begin + 2)) {
    const std::string_view action = text.substr(begin, text.find("}}", begin) + 2 - begin);
    if (!contains(action, ".Hostname") && !contains(action, ".IPv4")) continue;
    const auto one = model_servers::fill_in(action, sample_nodes[0]);
    const auto other = model_servers::fill_in(action, sample_nodes[1]);
    if (one.has_error() || other.has_error() || *one != *other) continue;
    out.yours(whose, fmt::format("{} is {} for every node{}", action, in_quotes(*one),
                                 contains(action, "trimPrefix")
                                     ? ": trimPrefix takes first what it cuts off, and then the text"
                                     : ""));
  }
}

bool take_template(const manifest& m, migration& out) {
  if (m.kind != "NodeConfigTemplate" || !has_wao_group(text_of(m.body, "apiVersion"))) return false;
  const auto read = model_servers::node_template::read({name_space_of(m), m.name}, spec_of(m));
  if (read.has_error()) {
    out.yours(m.title(), read.error().message);
    take_unasked(m, "spec.template.", out);
    return true;
  }
  const auto one = read->model_of(sample_nodes[0]);
  const auto other = read->model_of(sample_nodes[1]);
  if (one.model.has_error()) {
    out.yours(m.title(), one.model.error().message);
  } else {
    const bool is_whole =
        take_models(*one.model, other.model.has_value() ? *other.model : node_model(), m, out);
    for (const std::string term : {"powerConsumption", "powerConsumptionEndpointProvider"}) {
      for (const char* text : {".endpoint", ".basicAuthSecret.name"})
        tell_of_constants(text_of(m.body, "spec.template.predictor." + term + text), m.title(), out);
    }
    if (!one.model->remark.empty()) out.yours(m.title(), one.model->remark);
    if (is_whole) ++out.wao.objects;
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
  const auto label = [&all](std::string_view key) -> std::optional<std::string_view> {
    const auto at = all.find(key);
    return at == all.end() ? std::nullopt : std::optional<std::string_view>(at->second);
  };
  auto read = model_servers::model_by_labels(label);
  if (!read) return true;
  if (read->has_error()) {
    out.yours(m.title(), read->error().message);
    // The server must be allowed for the time when the labels of the spans are mended, too.
    for (const std::string_view what : model_servers::spans_of_labels) {
      all[fmt::format("{}/min", what)] = "0";
      all[fmt::format("{}/max", what)] = "1";
    }
    read = model_servers::model_by_labels(label);
  } else {
    ++out.wao.nodes;
  }
  if (read->has_error()) return true;
  allow_model(**read, m.title(), out);
  if (const std::string& remark = (*read)->remark; !remark.empty()) out.yours(m.title(), remark);
  return true;
}

}  // namespace

void find_wao(std::span<const manifest> installed, migration& out) {
  for (const manifest& m : installed) {
    if (is_node_config(m)) note_node_config(m, out);
  }
}

bool migrate_wao_model(const manifest& m, migration& out) {
  return take_node_config(m, out) || take_template(m, out) || take_node(m, out);
}

}  // namespace binnacle::cli::migrate
