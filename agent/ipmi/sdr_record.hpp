#pragma once

#include "agent/ipmi/known_sensor.hpp"

#include <freeipmi/sdr/ipmi-sdr.h>

#include <cstdint>
#include <span>
#include <vector>

namespace binnacle::ipmi {

/// The sensors that one sensor data record describes: one for a full record, up to fifteen for a compact
/// record that sensors share. None for other records, for event-only sensors, and for sensors of another
/// controller, because reaching those takes commands that do more than read. Source: IPMI 2.0, 43.1 and 43.2.
std::vector<known_sensor> sensors_of(ipmi_sdr_ctx_t context, std::span<const std::uint8_t> record);

/// The word of the IPMI specification for an entity id (table 43-13).
std::string entity_word(std::uint8_t id);

}  // namespace binnacle::ipmi
