#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace binnacle::cli {

/// Whether the scalar is a string by its source, whatever it looks like: it was quoted, a block, or tagged
/// so.
bool is_quoted(const YAML::Node& scalar);

/// `node` as YAML, with a line end. What was quoted stays so: yaml-cpp's own emitter writes "true" and "1"
/// plain, and Kubernetes then takes them for a boolean and a number. Comments and anchors are gone. Errors:
/// throws YAML::Exception when it is nested too deeply (an alias may stand inside its own anchor).
std::string yaml_text(const YAML::Node& node);

}  // namespace binnacle::cli
