#include "aggregator/custom_metrics/asked.hpp"

#include <fmt/format.h>

namespace binnacle::custom_metrics {

std::chrono::system_clock::time_point asked::wall(instant t) const {
  return wall_now - std::chrono::duration_cast<std::chrono::system_clock::duration>(now - t);
}

std::string asked::missing() const {
  return fmt::format("the server could not find the metric {} for {} {}{}{}", where.metric, where.resource,
                     where.object, series.empty() ? "" : " with selector ", series.text());
}

std::string why_absent(const store::sample& s, instant now) {
  const absence reason = s.absent_because(now);
  const bool aged_out = reason == absence::stale || reason == absence::disconnected;
  if (!aged_out || s.read_at == instant()) return fmt::format("no value ({})", to_string(reason));
  return fmt::format("no value ({}: last read {} ago)", to_string(reason), human(now - s.read_at));
}

}  // namespace binnacle::custom_metrics
