#pragma once

#include <yaml-cpp/node/node.h>

#include <string>
#include <vector>

namespace binnacle {

/// YAML::Load and YAML::LoadAll, which see a forgotten quote only where it begins to hurt, or not at all:
/// yaml-cpp takes a quoted text for ended at the end of the file. Throws YAML::Exception; for a quote that is
/// not closed, or that takes the following lines with it, its mark is where that quote opens and its words
/// are the remedy.
YAML::Node load_yaml(const std::string& text);
std::vector<YAML::Node> load_all_yaml(const std::string& text);

}  // namespace binnacle
