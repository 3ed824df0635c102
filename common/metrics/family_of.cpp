#include "common/metrics/family_of.hpp"

#include "common/text/nearest.hpp"

#include <vector>

namespace binnacle::metrics {

const family* family_meant(std::string_view name) {
  if (const family* itself = find(name); itself != nullptr) return itself;
  const family* out = nullptr;
  for (const family& f : families()) {
    const bool fits = name.size() > f.name.size() + 1 && name.starts_with(f.name) &&
                      name[f.name.size()] == '_' && !f.labels.empty();
    if (fits && (out == nullptr || f.name.size() > out->name.size())) out = &f;
  }
  return out;
}

const family* family_of(std::string_view name) { return family_meant(resolve(name).family); }

std::string_view nearest_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const family& f : families()) names.push_back(f.name);
  for (const alias& a : aliases()) names.push_back(a.name);
  return nearest(name, names);
}

}  // namespace binnacle::metrics
