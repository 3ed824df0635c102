#pragma once

#include "common/error.hpp"

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::migrate {

/// One Kubernetes object, or a KubeSchedulerConfiguration, of a file.
struct manifest {
  std::string kind;
  std::string name;
  std::string name_space;
  YAML::Node body;

  /// "Deployment telemetry-aware-scheduling".
  std::string title() const { return name.empty() ? kind : kind + " " + name; }
};

/// Every object of a YAML or JSON text: its documents, what stands in a List, and what stands as YAML in a
/// ConfigMap (a KubeSchedulerConfiguration usually does). Documents without a kind are left out. Errors:
/// invalid_input, with file, line and what is wrong.
result<std::vector<manifest>> read_manifests(const std::string& file, const std::string& text);

/// What stands below `path` ("spec.template.spec"), keys separated by dots, so that none may have a dot of
/// its own; a null node if there is none. Nothing is made by looking.
YAML::Node below(YAML::Node from, std::string_view path);
/// The scalar there; empty if there is none.
std::string text_of(const YAML::Node& from, std::string_view path);

}  // namespace binnacle::cli::migrate
