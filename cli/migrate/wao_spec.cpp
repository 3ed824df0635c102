// Hands the specs of WAO's objects to the aggregator's readers, and says what these pass over.
#include "cli/migrate/wao_spec.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <string_view>

namespace binnacle::cli::migrate {
namespace {

namespace json = boost::json;

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

}  // namespace

json::object spec_of(const manifest& m) {
  const json::value out = as_json_value(below(m.body, "spec"));
  return out.is_object() ? out.get_object() : json::object();
}

bool is_written(const model_servers::node_model& m) { return !m.model.host.empty(); }

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

}  // namespace binnacle::cli::migrate
