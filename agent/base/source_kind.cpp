#include "agent/base/source_kind.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace binnacle::agent {

void add_period(config_spec& spec, std::string_view name, duration& own, duration most) {
  spec.add_or_zero(fmt::format("{}-period", name), own, std::chrono::milliseconds(20), most,
                   fmt::format("time between two reads of {}; 0s: period", name));
}

std::vector<std::string> offered_names(const source_kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) {
    if (kind->offered()) names.emplace_back(kind->name());
  }
  return names;
}

std::vector<std::string> usual_names(const source_kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) {
    if (kind->offered() && kind->usual()) names.emplace_back(kind->name());
  }
  return names;
}

}  // namespace binnacle::agent
