#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/ipmi/read_schedule.hpp"

#include <span>
#include <string_view>
#include <vector>

/// Chooses the sensors that are read, by what the SDR says of them and what the configuration and the
/// policies want. Pure.
namespace binnacle::ipmi {

/// What the sensor measures, as a scheduler sees it. The first of `rules` that fits its name or key decides.
/// Otherwise its entity id decides, and otherwise the names that boards usually use. Source: entity ids, IPMI
/// 2.0 table 43-13 (0x03 processor, 0x0a power supply, 0x37 and DCMI's 0x40 air inlet, 0x41 processor).
sensor_role role_of(const sensor& s, std::span<const role_rule> rules);

/// Whether a sensor is read by default: temperatures, fans, watts, and whether the system is on. A DCMI
/// temperature is on the list only if `inventory` has no other sensor of its role.
bool on_default_list(const sensor& s, std::span<const sensor> inventory);

/// Which sensors of `inventory` are to be read, and how often.
std::vector<read_schedule::wish> choose(std::span<const sensor> inventory, const wanted_sensors& selected,
                                        const interest& waited_for);

}  // namespace binnacle::ipmi
