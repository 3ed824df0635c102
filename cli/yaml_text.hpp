#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace binnacle::cli {

/// Whether the source says that the scalar is a string, whatever it looks like: it is quoted, a block, or
/// tagged as a string.
bool is_quoted(const YAML::Node& scalar);

/// `node` as YAML, with a line end. Quoted scalars stay quoted: yaml-cpp's own emitter would write "true" and
/// "1" plain, and Kubernetes would take them for a boolean and a number. Comments and anchors are lost.
/// Errors: throws YAML::Exception if the nodes are nested too deeply (an alias may stand inside its own
/// anchor).
std::string yaml_text(const YAML::Node& node);

}  // namespace binnacle::cli
