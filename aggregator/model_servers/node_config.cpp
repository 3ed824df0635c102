#include "aggregator/model_servers/node_config.hpp"

#include "aggregator/kube/json.hpp"
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

named_model read_node_config(std::string object, const json::object& spec) {
  const json::object* predictor = kube::object_in(spec, "predictor");
  named_model out{std::move(object), model_in(predictor)};
  if (out.model.has_error()) return out;
  const json::object* collectors = kube::object_in(spec, "metricsCollector");
  if (const auto inlet = term_in(collectors, "inletTemp"); inlet && inlet->type == "Fake")
    out.model->inlet = fake_inlet;
  if (const auto pressure = term_in(collectors, "deltaP"); pressure && pressure->type == "Fake")
    out.model->pressure = fake_pressure;
  return out;
}

}  // namespace binnacle::model_servers
