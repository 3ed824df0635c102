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

/// The options of make_report().
struct report_options {
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  std::string dev_root = "/dev";
  std::string etc_root = "/etc";
  perf_opener open = open_perf_event;
  duration between_readings = std::chrono::seconds(1);  ///< between the two readings of each energy counter
  /// What --probe found. It is passed in, because a source's probe needs the settings.
  std::span<const source_findings> probe;
  /// Names to be left out everywhere, beside the machine's own names.
  std::vector<std::string> names;
};

/// Describes a machine for a maintainer who has no access to it, as YAML (tests/data/machines/README.md
/// explains the form): kernel, CPU, memory, PCI devices by their class, the files of /sys that discovery
/// reads, two readings of each energy counter, and what --probe says. It contains no serial numbers,
/// addresses, names of machines or users, and no command lines: only files of a list are read, and their
/// texts are scrubbed. It has at most report_bytes; where something was cut, its place says how much. Blocks:
/// about `between_readings`, and 5 s for each of at most three sensors that do not answer.
std::string make_report(const report_options& o);

/// A GitHub issue takes 65,536 characters.
inline constexpr std::size_t report_bytes = 60'000;

/// The version of the report's form. It rises when a program that reads the old form would misread the new
/// one.
inline constexpr int report_version = 1;

}  // namespace binnacle::agent
