#include "aggregator/ops/units.hpp"

#include "common/metrics/families.hpp"

namespace binnacle::ops {

std::string_view unit_of(std::string_view metric) {
  const metrics::resolved name = metrics::resolve(metric);
  if (const metrics::family* f = metrics::find(name.family); f != nullptr && name.scale == 1) return f->unit;
  if (name.is_alias) return {};
  for (const std::string_view unit :
       {"watts", "joules", "celsius", "ratio", "bytes", "seconds", "hertz", "volts", "amperes"}) {
    for (auto at = metric.find(unit); at != std::string_view::npos; at = metric.find(unit, at + 1)) {
      const auto end = at + unit.size();
      if (at > 0 && metric[at - 1] == '_' && (end == metric.size() || metric[end] == '_')) return unit;
    }
  }
  return {};
}

}  // namespace binnacle::ops
