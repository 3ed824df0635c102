#pragma once

#include "common/metrics/families.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace binnacle::metrics {

/// OpenTelemetry's name for a series of hardware, and the attributes that it requires beside the series' own
/// labels.
struct hardware_name {
  std::string_view metric;       ///< "hw.power"
  std::string_view description;  ///< the conventions' text for `metric`, as several families have one name
  label_set attributes;
};

/// The name in OpenTelemetry's semantic conventions for hardware. None if the conventions have no name for
/// the series. None also if its watts or joules are a part of those of another named series, because users
/// may add up `hw.power` and `hw.energy`. `hw.id` is the same for the watts and the joules of a component.
/// Source: opentelemetry.io/docs/specs/semconv/hardware (status: development).
std::optional<hardware_name> hardware_name_of(std::string_view family, const label_set& labels);

/// Series of a family that have the same name and the same attributes, except for the end of `hw.id`.
struct hardware_class {
  std::string_view metric;    ///< "hw.power"; empty: our name, without any of the attributes
  std::string_view type;      ///< hw.type; empty: none
  std::string_view source;    ///< how hw.id begins; "/" follows if there is more
  std::string_view location;  ///< hw.sensor_location; empty: none
};
/// The classes that the series of a family may have: several if its zones differ and `zone` is empty.
std::vector<hardware_class> hardware_classes_of(std::string_view family, std::string_view zone);

/// The name of our unit in UCUM; empty if UCUM has none.
std::string_view ucum(std::string_view unit) noexcept;

}  // namespace binnacle::metrics
