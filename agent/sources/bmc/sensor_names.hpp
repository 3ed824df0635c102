#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

/// Which metrics a sensor of the BMC gives, and under which labels. Pure.
namespace binnacle::agent {

/// The family of a sensor's value. For a sensor of states it is the family of its states.
std::string_view family_of(const ipmi::sensor& s) noexcept;

/// What identifies a sensor: the labels `sensor`, `entity` and `id` of its series.
struct sensor_name {
  std::string sensor;  ///< unique among the sensors of its kind on this board
  std::string entity;  ///< "processor 1"
  std::string id;      ///< its key
};
/// The names of all sensors of an inventory, by key. If a board gives a name twice within a kind, the entity
/// is appended (Dell calls both processors' sensors "Temp"), and if that is not enough, the key.
std::map<std::string, sensor_name> names_of(std::span<const ipmi::sensor> all);

/// What the power sensors measure, by key: the label `scope` of those that are not "part".
/// "node": they make up the node's watts. That is the sensor of the whole system (the one with the lowest
/// number if there are several). Without such a sensor it is the inputs of all power supplies.
/// "supply": the inputs of the supplies beside such a sensor. Both measure the same watts, so their sum is
/// never added, but shows a sensor that is not the whole system's.
/// Outputs of supplies and parts of the system are in neither.
std::map<std::string, std::string_view> power_scopes(std::span<const ipmi::sensor> all);

/// The sensors behind the families that policies watch, and how often each is wanted, in milliseconds.
/// Sensors that `excluded` names (globs as in ipmi::wanted_sensors) are left out.
std::map<std::string, std::uint32_t> keys_wanted(std::span<const ipmi::sensor> all,
                                                 const wire::interest& families,
                                                 std::span<const std::string> excluded);

/// A sentence about the first pattern of bmc-sensors, bmc-exclude or bmc-roles that fits no sensor. Empty if
/// every pattern fits one.
std::string unmatched(const ipmi::wanted_sensors& patterns, std::span<const ipmi::sensor> all);

}  // namespace binnacle::agent
