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

result<void> check_lengths(const term& power) {
  for (const auto& [name, text] : {std::pair{"type", power.type}, std::pair{"endpoint", power.endpoint},
                                   std::pair{"basicAuthSecret.name", power.secret}}) {
    if (text.size() > longest_text)
      return error{errc::invalid_input,
                   fmt::format("predictor.powerConsumption.{} has more than {} bytes", name, longest_text)};
  }
  return {};
}

result<void> give_secret(served_model& to, std::string_view name_space, std::string_view name) {
  if (name.empty()) return {};
  if (!is_dns_subdomain(name) || !is_dns_subdomain(name_space))
    return error{errc::invalid_input,
                 fmt::format("predictor.powerConsumption names the basicAuthSecret {}, which is no name of a "
                             "Secret",
                             in_quotes(name))};
  if (!to.secure)
    return error{
        errc::invalid_input,
        fmt::format("predictor.powerConsumption names a basicAuthSecret, and everybody on the way to "
                    "{} may read a password: use https or grpcs",
                    to.text())};
  to.secret = fmt::format("{}/{}", name_space, name);
  return {};
}

result<node_model> model_in(const json::object* predictor, std::string_view name_space) {
  const auto power = term_in(predictor, "powerConsumption");
  const bool provided = term_in(predictor, "powerConsumptionEndpointProvider").has_value();
  if (!power || power->type.empty() || (provided && power->endpoint.empty()))
    return error{errc::invalid_input,
                 provided ? "its powerConsumptionEndpointProvider is not asked: name the model in "
                            "predictor.powerConsumption"
                          : "it has no predictor.powerConsumption"};
  if (auto fits = check_lengths(*power); fits.has_error()) return fits.error();
  if (power->type != "V2InferenceProtocol")
    return error{
        errc::invalid_input,
        fmt::format("predictor.powerConsumption is of type {}, and only V2InferenceProtocol is asked",
                    in_quotes(power->type))};
  auto model = v2_model(power->endpoint);
  if (model.has_error()) return model.error();
  if (auto given = give_secret(*model, name_space, power->secret); given.has_error()) return given.error();
  node_model out;
  out.model = std::move(*model);
  if (provided)
    out.remark =
        "WAO would ask its powerConsumptionEndpointProvider for the endpoint; Binnacle asks the one of "
        "predictor.powerConsumption";
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
