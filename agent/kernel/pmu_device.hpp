#pragma once

#include "agent/kernel/perf_event.hpp"
#include "agent/kernel/ranges.hpp"
#include "common/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Where a term of an event goes: bits of config, config1 or config2. "config:0-7,32-35" puts a value's low
/// eight bits at 0 and the next four at 32.
struct pmu_format {
  unsigned word = 0;  ///< 0: config, 1: config1, 2: config2
  std::vector<number_range> where;
};
/// Parses the text of a file in format/. Nothing if the text has another form. Pure.
std::optional<pmu_format> parse_pmu_format(std::string_view text);

/// Puts `value` into `out`. False if the format has too few bits for the value. Pure.
bool put_term(const pmu_format& format, std::uint64_t value, perf_encoding& out);

/// An event with a name of the kernel's own: a file in events/.
struct pmu_alias {
  std::string terms;            ///< "event=0x04,umask=0x03"
  std::optional<double> scale;  ///< a count times this is the value in `unit`; nothing: there is no such file
  std::string unit;             ///< "MiB", "Joules", or empty
};

/// A PMU as the kernel shows it on its event_source bus. Nothing stays open; files are read when a call needs
/// them. Source: Linux Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}.
class pmu_device {
 public:
  pmu_device(std::string folder, std::uint32_t type);

  const std::string& folder() const noexcept { return folder_; }
  const std::string& name() const noexcept { return name_; }  ///< "cpu", "cpu_core", "uncore_imc_0", "power"
  std::uint32_t type() const noexcept { return type_; }       ///< for perf_event_attr

  /// The file `cpumask`: a PMU outside the cores is read through these CPUs, one for each of its boxes.
  /// Nothing if this is a PMU of the cores.
  const std::optional<std::vector<unsigned>>& box_cpus() const noexcept { return box_cpus_; }
  /// The file `cpus`: on a hybrid machine, the cores of one kind. Nothing if the PMU is on every CPU.
  const std::optional<std::vector<unsigned>>& core_cpus() const noexcept { return core_cpus_; }

  std::vector<std::string> alias_names() const;
  std::optional<pmu_alias> alias(const std::string& name) const;
  std::vector<std::string> format_names() const;
  std::optional<pmu_format> format(const std::string& name) const;

  /// The encoding of "event=0x3c,umask=1", "cas_count_read" or "config=0x1ff": terms of the format and the
  /// kernel's event names, separated by commas. A term without a value is 1. Errors: invalid_input, which
  /// lists the valid terms.
  result<perf_encoding> encode(std::string_view terms) const;

 private:
  result<void> put(std::string_view term, bool aliases_too, perf_encoding& out) const;

  std::string folder_;
  std::string name_;
  std::uint32_t type_;
  std::optional<std::vector<unsigned>> box_cpus_, core_cpus_;
};

/// All PMUs below `sys_root`, sorted by name. An empty list is no error: the folder may be masked, and
/// software events need no file.
std::vector<pmu_device> find_pmu_devices(const std::string& sys_root);

}  // namespace binnacle::agent
