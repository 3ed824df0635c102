#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>

namespace binnacle::agent {

/// Shortens folders that are alike, as a server may have a hundred equal boxes. If a folder has the same
/// files as an earlier folder beside it, and most of their texts are the same, it becomes {as: NAME OF THE
/// EARLIER FOLDER, and the files that differ}. Pure.
void share_alike(YAML::Node tree);

/// The first entries of `folder`, as many as need about `most` bytes as text. The entry "left-out" of a
/// folder counts what was cut there. Pure.
YAML::Node cut_to(const YAML::Node& folder, std::size_t most);

}  // namespace binnacle::agent
