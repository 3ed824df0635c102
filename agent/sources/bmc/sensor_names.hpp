#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "common/wire/messages.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which metrics a sensor of the BMC gives, and under which labels. Pure.
namespace binnacle::agent {

/// The family of a sensor's value; of state sensors the family of its states.
std::string_view family_of(const ipmi::sensor& s) noexcept;

/// What a sensor is called: `sensor`, `entity` and `id` of its series.
struct sensor_name {
  std::string sensor;  ///< told apart from others of its kind on this board
  std::string entity;  ///< "processor 1"
  std::string id;      ///< its key
};
/// The names of all sensors of an inventory, by key. A name that the board gives twice within a kind gets its
/// entity behind it (Dell calls both processors' sensors "Temp"), and the key where that is not enough.
std::map<std::string, sensor_name> names_of(std::span<const ipmi::sensor> all);

/// The power sensors that make up the node's watts, by key: the one of the whole system (the one with the
/// lowest number if there are several), or without it the inputs of all power supplies; never both, since
/// they are the same watts. Outputs of supplies and parts of the system never count.
std::set<std::string> node_power(std::span<const ipmi::sensor> all);

/// The sensors behind the families that policies watch, and how often each is wanted, in milliseconds; but no
/// sensor that `excluded` (globs as in ipmi::wanted_sensors) names.
std::map<std::string, std::uint32_t> keys_wanted(std::span<const ipmi::sensor> all,
                                                 const wire::interest& families,
                                                 std::span<const std::string> excluded);

/// The first pattern of bmc-sensors, bmc-exclude or bmc-roles that none of the sensors fits, in a sentence;
/// empty when each has one.
std::string unmatched(const ipmi::wanted_sensors& patterns, std::span<const ipmi::sensor> all);

}  // namespace binnacle::agent
