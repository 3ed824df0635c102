#pragma once

#include <yaml-cpp/yaml.h>

namespace binnacle::cli {

/// The entry for telemetry/scheduling among the managedResources of an extender of a
/// KubeSchedulerConfiguration, by which Binnacle's and TAS's are known; undefined without, also when
/// `extender` is no map.
YAML::Node telemetry_resource(const YAML::Node& extender);

}  // namespace binnacle::cli
