#pragma once

#include <yaml-cpp/yaml.h>

namespace binnacle::cli {

/// The entry telemetry/scheduling of managedResources in an extender of a KubeSchedulerConfiguration.
/// Binnacle's and TAS's extenders are recognised by it. Undefined if there is no such entry, or if `extender`
/// is no map.
YAML::Node telemetry_resource(const YAML::Node& extender);

}  // namespace binnacle::cli
