#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/ipmi/read_schedule.hpp"

#include <span>
#include <string_view>
#include <vector>

/// Which sensors matter, by what the SDR says of them and what the configuration and the policies want. Pure.
namespace binnacle::ipmi {

/// What the sensor measures, as a scheduler sees it. The first of `rules` that fits its name or key decides,
/// else its entity id, else the names that boards usually give. Source: entity ids, IPMI 2.0 table 43-13
/// (0x03 processor, 0x0a power supply, 0x37 and DCMI's 0x40 air inlet, 0x41 processor).
sensor_role role_of(const sensor& s, std::span<const role_rule> rules);

/// Whether a sensor is read without anybody asking for it: temperatures, fans and watts, and whether the
/// system is on. DCMI temperatures only where `inventory` has no other sensor of their role.
bool on_default_list(const sensor& s, std::span<const sensor> inventory);

/// What is to be read of `inventory`, and how often.
std::vector<read_schedule::wish> choose(std::span<const sensor> inventory, const wanted_sensors& selected,
                                        const interest& waited_for);

}  // namespace binnacle::ipmi
