#pragma once

#include "agent/ipmi/monitor.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace binnacle::ipmi {

/// One line of --list: a sensor and what it said.
struct listed {
  sensor about;
  reading got;
};

/// For people: the BMC, then a table of sensors, and what binnacle reads of them by default.
std::string as_text(const bmc& who, const std::vector<listed>& all);

/// --list: finds the BMC, reads each sensor once and prints all of it. Errors: as monitor::find. Blocks.
result<void> list(monitor& from, bool as_json, std::ostream& out);

}  // namespace binnacle::ipmi
