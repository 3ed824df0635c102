#pragma once

#include "aggregator/store/shape.hpp"
#include "common/metrics/catalog.hpp"

#include <optional>
#include <string_view>

namespace binnacle::sender {

/// What OpenTelemetry calls a series of hardware, and the attributes that it wants besides the series' own
/// labels.
struct hardware_name {
  std::string_view metric;  ///< "hw.power"
  metrics::label_set attributes;
};

/// The name by OpenTelemetry's semantic conventions for hardware. None if they have no name for the series,
/// or if its watts or joules are part of those of another series with a name: `hw.power` and `hw.energy` may
/// be added up. `hw.id` is the same for the watts and the joules of a component.
/// Source: opentelemetry.io/docs/specs/semconv/hardware (status: development).
std::optional<hardware_name> hardware_name_of(const store::shape::series& s);

/// A unit of our catalogue in UCUM; empty for one that has none there.
std::string_view ucum(std::string_view unit) noexcept;

}  // namespace binnacle::sender
