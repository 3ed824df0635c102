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
  /// Of a ConfigMap: why a KubeSchedulerConfiguration in it cannot be read, as a sentence; else empty.
  std::string unread = {};

  /// "Deployment telemetry-aware-scheduling".
  std::string title() const { return name.empty() ? kind : kind + " " + name; }
};

/// Reads every object of a YAML or JSON text: its documents, the items of a List, and YAML inside a ConfigMap
/// (a KubeSchedulerConfiguration usually stands there; one that is no YAML becomes `unread`). Documents
/// without a kind are left out. Errors: invalid_input, with file, line and what is wrong.
result<std::vector<manifest>> read_manifests(const std::string& file, const std::string& text);

/// The node at `path` ("spec.template.spec"). Dots separate the keys, so a key in it cannot have a dot. A
/// null node if there is none; looking adds nothing to the tree.
YAML::Node below(YAML::Node from, std::string_view path);
/// The scalar at `path`; empty if there is none.
std::string text_of(const YAML::Node& from, std::string_view path);
/// The scalar under `key`, which may have dots, of the map at `path`; empty if there is none.
std::string entry_of(const YAML::Node& from, std::string_view path, const std::string& key);

}  // namespace binnacle::cli::migrate
