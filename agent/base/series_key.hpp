#pragma once

#include "common/metrics/catalog.hpp"

#include <string>
#include <string_view>

namespace binnacle::agent {

/// One text for a family and its labels, in their order: another text for every other series. Each part has
/// its length before it, since a label's value may hold any character.
inline std::string series_key(std::string_view family, const metrics::label_set& labels) {
  std::string key;
  const auto add = [&key](std::string_view part) {
    key += std::to_string(part.size());
    key += ':';
    key += part;
  };
  add(family);
  for (const auto& [name, value] : labels) {
    add(name);
    add(value);
  }
  return key;
}

}  // namespace binnacle::agent
