#include "aggregator/model_servers/node_config.hpp"

#include "common/text/json_members.hpp"
#include "common/text/label_syntax.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

namespace binnacle::model_servers {
namespace {

namespace json = boost::json;

// The values of WAO's collectors of type Fake.
constexpr double fake_inlet = 15.5, fake_pressure = 7.5;

struct term {
  std::string_view type, endpoint;
  std::string_view secret;  // its name; empty: none
};
std::optional<term> term_in(const json::object* from, std::string_view name) {
  const json::object* t = from == nullptr ? nullptr : object_in(*from, name);
  if (t == nullptr) return std::nullopt;
  const json::object* secret = object_in(*t, "basicAuthSecret");
  return term{text_in(*t, "type"), text_in(*t, "endpoint"),
              secret == nullptr ? "" : text_in(*secret, "name")};
}

constexpr std::string_view written = "powerConsumption", provided = "powerConsumptionEndpointProvider";

result<void> check_lengths(std::string_view which, const term& t) {
  for (const auto& [name, text] : {std::pair{"type", t.type}, std::pair{"endpoint", t.endpoint},
                                   std::pair{"basicAuthSecret.name", t.secret}}) {
    if (text.size() > longest_text)
      return invalid(fmt::format("predictor.{}.{} has more than {} bytes", which, name, longest_text));
  }
  return {};
}

/// "NAMESPACE/NAME", or empty.
result<std::string> secret_of(std::string_view which, const term& t, std::string_view name_space) {
  if (t.secret.empty()) return std::string();
  if (!is_dns_subdomain(t.secret) || !is_dns_subdomain(name_space))
    return invalid(fmt::format("predictor.{} names the basicAuthSecret {}, which is no name of a Secret",
                               which, in_quotes(t.secret)));
  return fmt::format("{}/{}", name_space, t.secret);
}

error without_tls(std::string_view which, const std::string& server, std::string_view remedy) {
  return invalid(
      fmt::format("predictor.{} names a basicAuthSecret, and everybody on the way to {} may read a "
                  "password: use {}",
                  which, server, remedy));
}

result<endpoint_provider> provider_in(const term& t, std::string_view name_space) {
  if (auto fits = check_lengths(provided, t); fits.has_error()) return fits.error();
  if (t.type != "Redfish")
    return invalid(
        fmt::format("predictor.{} is of type {}, and only Redfish is asked", provided, in_quotes(t.type)));
  auto out = redfish_provider(t.endpoint);
  if (out.has_error()) return out;
  auto secret = secret_of(provided, t, name_space);
  if (secret.has_error()) return secret.error();
  if (!secret->empty() && !out->secure) return without_tls(provided, out->text(), "https");
  out->secret = std::move(*secret);
  return out;
}

result<served_model> written_in(const term& t, const std::string& secret) {
  if (t.type != "V2InferenceProtocol")
    return invalid(fmt::format("predictor.{} is of type {}, and only V2InferenceProtocol is asked", written,
                               in_quotes(t.type)));
  auto model = v2_model(t.endpoint);
  if (model.has_value() && !secret.empty() && !model->secure)
    return without_tls(written, model->text(), "https or grpcs");
  return model;
}

result<node_model> model_in(const json::object* predictor, std::string_view name_space) {
  const term power = term_in(predictor, written).value_or(term{});
  const auto asked = term_in(predictor, provided);
  if (!asked && power.type.empty()) return invalid("it has no predictor.powerConsumption");
  if (auto fits = check_lengths(written, power); fits.has_error()) return fits.error();
  auto secret = secret_of(written, power, name_space);
  if (secret.has_error()) return secret.error();
  node_model out;
  auto model = written_in(power, *secret);
  if (model.has_value()) out.model = std::move(*model);
  out.model.secret = *secret;
  if (!asked) {
    if (model.has_error()) return model.error();
    return out;
  }
  auto provider = provider_in(*asked, name_space);
  // Who answers there chooses the server that gets the model's password.
  if (provider.has_value() && !provider->secure && !secret->empty())
    provider =
        invalid(fmt::format("predictor.{} names a basicAuthSecret, and everybody on the way to {} may say "
                            "to which server the password goes: use https",
                            written, provider->text()));
  if (provider.has_value()) {
    out.provider = std::move(*provider);
    return out;
  }
  if (model.has_error()) return provider.error();
  out.remark =
      fmt::format("{}; meanwhile the endpoint of predictor.{} is asked", provider.error().message, written);
  return out;
}

}  // namespace

named_model read_node_config(std::string object, std::string_view name_space, const json::object& spec) {
  const json::object* predictor = object_in(spec, "predictor");
  named_model out{std::move(object), model_in(predictor, name_space)};
  if (out.model.has_error()) return out;
  const json::object* collectors = object_in(spec, "metricsCollector");
  if (const auto inlet = term_in(collectors, "inletTemp"); inlet && inlet->type == "Fake")
    out.model->inlet = fake_inlet;
  if (const auto pressure = term_in(collectors, "deltaP"); pressure && pressure->type == "Fake")
    out.model->pressure = fake_pressure;
  return out;
}

}  // namespace binnacle::model_servers
