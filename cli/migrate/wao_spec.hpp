#pragma once

#include "aggregator/model_servers/node_model.hpp"
#include "cli/migrate/migration.hpp"

#include <boost/json/object.hpp>

#include <string>

/// What NodeConfigs and NodeConfigTemplates have in common: the spec of a NodeConfig, which is in a
/// template's spec.template.
namespace binnacle::cli::migrate {

/// The object's spec, in the form in which the aggregator reads it. Every scalar in it is a string.
boost::json::object spec_of(const manifest& m);

/// Whether an endpoint is written down. Beside a provider it may be missing.
bool is_written(const model_servers::node_model& m);

/// Says what to do about the parts of a NodeConfig that are not asked. `where`: "spec.", or "spec.template.".
void take_unasked(const manifest& m, const std::string& where, migration& out);

}  // namespace binnacle::cli::migrate
