// Lets the aggregator ask the servers, and read the Secrets, that WAO's objects and labels name.
#include "cli/migrate/wao_allowed.hpp"

#include <fmt/format.h>

namespace binnacle::cli::migrate {

bool reads_secrets_of(const std::string& name_space, const std::string& secret, const std::string& whose,
                      migration& out) {
  std::string& first = out.wao.secrets_from;
  if (first.empty()) first = name_space;
  if (first == name_space) return true;
  out.yours(whose, fmt::format("{} not read, only those of the namespace {}: move object and Secret there",
                               secret, first));
  return false;
}

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

void allow_model(const model_servers::served_model& model, const std::string& whose, migration& out) {
  const std::string server = model.server();
  const bool is_new = allow_server(server, model.secure, whose, out);
  if (is_new && model.speaks == model_servers::protocol::tf_serving &&
      model.by == model_servers::carrier::rest)
    out.yours(
        whose,
        fmt::format(
            "{0} is the usual address of TensorFlow Serving's REST API, and is asked by that: start it with "
            "--rest_api_port={1}, or give the port of its gRPC",
            server, model.port));
}

void tell_of_provided_servers(migration& out) {
  out.once(note::fate::yours, "powerConsumptionEndpointProvider",
           "is asked as by WAO. The server of the model that it names must be in aggregator.modelServers, "
           "too: add it, or wait for the event on the object that names it");
}

}  // namespace binnacle::cli::migrate
