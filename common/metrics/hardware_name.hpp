#pragma once

#include "common/metrics/catalog.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace binnacle::metrics {

/// What OpenTelemetry calls a series of hardware, and the attributes that it wants besides the series' own
/// labels.
struct hardware_name {
  std::string_view metric;       ///< "hw.power"
  std::string_view description;  ///< what that is, in the conventions' words: several families have one name
  label_set attributes;
};

/// The name by OpenTelemetry's semantic conventions for hardware. None if they have no name for the series,
/// or if its watts or joules are part of those of another series with a name: `hw.power` and `hw.energy` may
/// be added up. `hw.id` is the same for the watts and the joules of a component.
/// Source: opentelemetry.io/docs/specs/semconv/hardware (status: development).
std::optional<hardware_name> hardware_name_of(std::string_view family, const label_set& labels);

/// Series of a family that have one name and equal attributes but for the rest of `hw.id`.
struct hardware_class {
  std::string_view metric;    ///< "hw.power"; empty: they keep our name, and have none of the attributes
  std::string_view type;      ///< hw.type; empty: none
  std::string_view source;    ///< what hw.id begins with; "/" follows if there is more
  std::string_view location;  ///< hw.sensor_location; empty: none
};
/// What the series of a family may be: several, if its zones differ and `zone` is empty.
std::vector<hardware_class> hardware_classes_of(std::string_view family, std::string_view zone);

/// A unit of our catalogue in UCUM; empty for one that has none there.
std::string_view ucum(std::string_view unit) noexcept;

}  // namespace binnacle::metrics
