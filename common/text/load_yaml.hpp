#pragma once

#include <yaml-cpp/node/node.h>

#include <string>
#include <vector>

namespace binnacle {

/// YAML::Load and YAML::LoadAll with better errors for a forgotten quote. yaml-cpp reports such a quote only
/// further down, or never: a quoted text may end at the end of the file. Throws YAML::Exception. For a quote
/// that is not closed, or that swallows the lines behind it, the exception's mark is the place where the
/// quote opens, and its message is the remedy.
YAML::Node load_yaml(const std::string& text);
std::vector<YAML::Node> load_all_yaml(const std::string& text);

}  // namespace binnacle
