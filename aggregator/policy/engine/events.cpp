#include "aggregator/policy/engine/events.hpp"

namespace binnacle::policy {

std::string_view to_string(event_kind k) noexcept {
  switch (k) {
    case event_kind::accepted: return "Accepted";
    case event_kind::removed: return "Removed";
    case event_kind::violating: return "Violating";
    case event_kind::cleared: return "Cleared";
  }
  return "?";
}

std::string_view to_string(condition_kind k) noexcept {
  switch (k) {
    case condition_kind::conflict: return "Conflict";
    case condition_kind::not_allowed: return "NotAllowed";
    case condition_kind::held: return "Held";
    case condition_kind::frozen: return "Frozen";
    case condition_kind::metric_missing: return "MetricMissing";
    case condition_kind::too_costly: return "TooCostly";
  }
  return "?";
}

}  // namespace binnacle::policy
