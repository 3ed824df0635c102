#pragma once

#include "agent/base/probe.hpp"
#include "agent/kernel/perf_event.hpp"
#include "common/clock.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// What `--report` is made of.
struct report_options {
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  std::string dev_root = "/dev";
  std::string etc_root = "/etc";
  perf_opener open = open_perf_event;
  duration between_readings = std::chrono::seconds(1);  ///< of energy counters
  /// What --probe found: made before, since a source's probe knows the settings.
  std::span<const source_findings> probe;
  /// Names that are left out wherever they stand, beside the machine's own.
  std::vector<std::string> names;
};

/// What a maintainer needs to see of a machine that he does not have, as YAML (tests/data/machines/README.md
/// is the form): kernel, CPU, the files of /sys that discovery reads, two readings of each energy counter,
/// and what --probe says. Neither serial numbers nor addresses, names of machines or users, or command lines:
/// only files of a list are read, and their texts are scrubbed. At most report_bytes long; what is cut is
/// counted where it was. Blocks: about `between_readings`, and 5 s for each of at most three sensors that do
/// not answer.
std::string make_report(const report_options& o);

/// A GitHub issue takes 65,536 characters.
inline constexpr std::size_t report_bytes = 60'000;

/// The version of the report's form. It rises when a reader of the old form would misread the new one.
inline constexpr int report_version = 1;

}  // namespace binnacle::agent
