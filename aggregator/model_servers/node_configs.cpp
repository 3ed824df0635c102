#include "aggregator/model_servers/node_configs.hpp"

#include "aggregator/kube/json.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::model_servers {
namespace {

namespace json = boost::json;

// What WAO's collectors of type Fake say.
constexpr double fake_inlet = 15.5, fake_pressure = 7.5;

struct term {
  std::string_view type, endpoint;
  bool secret = false;
};
std::optional<term> term_in(const json::object* from, std::string_view name) {
  const json::object* t = from == nullptr ? nullptr : kube::object_in(*from, name);
  if (t == nullptr) return std::nullopt;
  const json::object* secret = kube::object_in(*t, "basicAuthSecret");
  return term{kube::text_in(*t, "type"), kube::text_in(*t, "endpoint"),
              secret != nullptr && !kube::text_in(*secret, "name").empty()};
}

result<node_model> model_in(const json::object* predictor) {
  const auto power = term_in(predictor, "powerConsumption");
  const bool provided = term_in(predictor, "powerConsumptionEndpointProvider").has_value();
  if (!power || power->type.empty())
    return error{errc::invalid_input,
                 provided ? "its powerConsumptionEndpointProvider is not asked: name the model in "
                            "predictor.powerConsumption"
                          : "it has no predictor.powerConsumption"};
  if (power->type != "V2InferenceProtocol")
    return error{
        errc::invalid_input,
        fmt::format("predictor.powerConsumption is of type {}, and only V2InferenceProtocol is asked",
                    in_quotes(power->type))};
  if (power->secret)
    return error{errc::invalid_input,
                 "predictor.powerConsumption names a basicAuthSecret, and Secrets are not read"};
  auto model = v2_model(power->endpoint);
  if (model.has_error()) return model.error();
  node_model out;
  out.model = std::move(*model);
  return out;
}

}  // namespace

node_configs::found read_node_config(const kube::object_key& key, const json::object& spec) {
  const json::object* predictor = kube::object_in(spec, "predictor");
  node_configs::found out{"NodeConfig " + key.text(), model_in(predictor)};
  if (out.model.has_error()) return out;
  const json::object* collectors = kube::object_in(spec, "metricsCollector");
  if (const auto inlet = term_in(collectors, "inletTemp"); inlet && inlet->type == "Fake")
    out.model->inlet = fake_inlet;
  if (const auto pressure = term_in(collectors, "deltaP"); pressure && pressure->type == "Fake")
    out.model->pressure = fake_pressure;
  return out;
}

kube::reflector::settings node_configs::collection(std::size_t group) {
  kube::reflector::settings out;
  const std::string_view name = group == 0 ? "node.waok8s.github.io" : "wao.bitmedia.co.jp";
  out.path = fmt::format("/apis/{}/v1beta1/nodeconfigs", name);
  out.what = fmt::format("NodeConfig objects ({})", name);
  out.if_unknown = "WAO is not installed, which is no trouble";
  return out;
}

void node_configs::collection_of::unlist(const kube::object_key& key) {
  const auto known = objects.find(key);
  if (known == objects.end()) return;
  const auto of_node = by_node.find(known->second.node);
  if (of_node == by_node.end()) return;
  std::erase(of_node->second, key);
  if (of_node->second.empty()) by_node.erase(of_node);
}

void node_configs::collection_of::changed(const kube::object_key& key, const json::object& given) {
  const json::object* spec = kube::object_in(given, "spec");
  unlist(key);
  if (spec == nullptr) {
    objects.erase(key);
    return;
  }
  object o{std::string(kube::text_in(*spec, "nodeName")), read_node_config(key, *spec)};
  auto& of_node = by_node[o.node];
  of_node.insert(std::ranges::lower_bound(of_node, key), key);
  objects.insert_or_assign(key, std::move(o));
}

void node_configs::collection_of::gone(const kube::object_key& key) {
  unlist(key);
  objects.erase(key);
}

const node_configs::found* node_configs::find(std::string_view node) const {
  for (const collection_of& c : collections_) {
    const auto at = c.by_node.find(node);
    if (at != c.by_node.end()) return &c.objects.at(at->second.front()).what;
  }
  return nullptr;
}

std::size_t node_configs::size() const noexcept {
  std::size_t out = 0;
  for (const collection_of& c : collections_) out += c.objects.size();
  return out;
}

}  // namespace binnacle::model_servers
