#pragma once

#include "agent/sources/host/whole_machine_check.hpp"

#include <string>
#include <string_view>

namespace binnacle::agent {

/// The value of the label `reason` of host_power_set_aside.
std::string_view to_string(disbelief why);

/// A way in a sentence.
struct side {
  std::string_view source;
  std::string_view sensor;  ///< its only one; empty if there are several

  std::string name() const;
};

/// Why `check` sets `accused` aside, and what would mend it. `second`: a meter that says as much as `accused`
/// while both say less than a part of the machine; empty if there is none. Empty for a verdict that compares
/// no numbers (wrong_unit, several, none).
std::string sentence(const side& accused, const side& witness, std::string_view second,
                     const whole_machine_check& check);

}  // namespace binnacle::agent
