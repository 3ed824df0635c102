#pragma once

#include "agent/ipmi/monitor.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace binnacle::ipmi {

/// One line of --list: a sensor and its reading.
struct listed {
  sensor about;
  reading got;
};

/// Text for people: the BMC, then a table of its sensors, which also shows what binnacle reads by default.
std::string as_text(const bmc& who, const std::vector<listed>& all);

/// --list: finds the BMC, reads each sensor once and prints the result. Errors: those of monitor::find.
/// Blocks.
result<void> list(monitor& from, bool as_json, std::ostream& out);

}  // namespace binnacle::ipmi
