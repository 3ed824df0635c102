#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>

namespace binnacle::agent {

/// Says once what folders beside each other have in common: a folder with the same files as an elder one,
/// most of them with the same text, becomes {as: THE ELDER'S NAME, and what differs}. A server has a hundred
/// boxes that are alike. Pure.
void share_alike(YAML::Node tree);

/// The first entries of `folder` that need about `most` bytes as text. What is cut is counted in the entry
/// "left-out" of its folder. Pure.
YAML::Node cut_to(const YAML::Node& folder, std::size_t most);

}  // namespace binnacle::agent
