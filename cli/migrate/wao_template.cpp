// Migrates NodeConfigTemplate objects, from which WAO's controller makes a NodeConfig for each node.
#include "aggregator/model_servers/node_model.hpp"
#include "aggregator/model_servers/node_template.hpp"
#include "cli/migrate/wao.hpp"
#include "cli/migrate/wao_allowed.hpp"
#include "cli/migrate/wao_spec.hpp"
#include "common/async/network.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace binnacle::cli::migrate {
namespace {

using model_servers::node_model;

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
      allow_model(one.model, whose, out);
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

}  // namespace

bool migrate_wao_template(const manifest& m, migration& out) {
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

}  // namespace binnacle::cli::migrate
