#pragma once

#include "common/metrics/families.hpp"

#include <string>
#include <string_view>

namespace binnacle::agent {

/// One text for a family and its labels in their order. Two different series never give the same text: each
/// part is preceded by its length, since a label value may hold any character.
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
