#include "agent/base/sensor_name.hpp"

#include "common/text/glob.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::agent {

bool is_named(const wire::series_info& s, std::span<const std::string> globs) {
  const auto label = metrics::label_of(s.labels, "sensor"), type = metrics::label_of(s.labels, "type");
  const auto chip_and_label = fmt::format("{}/{}", metrics::label_of(s.labels, "chip"), label);
  return std::ranges::any_of(globs, [&](const std::string& g) {
    return label.empty() ? matches_glob(g, type) : matches_glob(g, label) || matches_glob(g, chip_and_label);
  });
}

}  // namespace binnacle::agent
