#pragma once

#include "agent/kernel/perf_event.hpp"
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
  struct bits {
    unsigned first = 0, last = 0;
  };
  std::vector<bits> where;
};
/// Reads the text of a file in format/; nothing if it is not of that form. Pure.
std::optional<pmu_format> parse_pmu_format(std::string_view text);

/// Puts `value` into `out`. False when it has more bits than the format. Pure.
bool put_term(const pmu_format& format, std::uint64_t value, perf_encoding& out);

/// An event that the kernel names itself, a file in events/.
struct pmu_alias {
  std::string terms;  ///< "event=0x04,umask=0x03"
  double scale = 1;   ///< a count times this is in `unit`
  std::string unit;   ///< "MiB", "Joules", or empty
};

/// A PMU as the kernel shows it on its event_source bus. Nothing is kept open; files are read when asked for.
/// Source: Linux Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events}.
class pmu_device {
 public:
  pmu_device(std::string folder, std::uint32_t type);

  const std::string& folder() const noexcept { return folder_; }
  const std::string& name() const noexcept { return name_; }  ///< "cpu", "cpu_core", "uncore_imc_0", "power"
  std::uint32_t type() const noexcept { return type_; }       ///< for perf_event_attr

  /// `cpumask`: a PMU outside the cores is read through these CPUs, one for each of its boxes. Nothing: it is
  /// no such PMU.
  const std::optional<std::vector<unsigned>>& box_cpus() const noexcept { return box_cpus_; }
  /// `cpus`: a hybrid machine's cores of one kind. Nothing: the PMU is on every CPU.
  const std::optional<std::vector<unsigned>>& core_cpus() const noexcept { return core_cpus_; }

  std::vector<std::string> alias_names() const;
  std::optional<pmu_alias> alias(const std::string& name) const;
  std::vector<std::string> format_names() const;
  std::optional<pmu_format> format(const std::string& name) const;

  /// "event=0x3c,umask=1", "cas_count_read", "config=0x1ff": terms of the format, and the kernel's own event
  /// names, between commas; a term without a value is 1. Errors: invalid_input, with what there is.
  result<perf_encoding> encode(std::string_view terms) const;

 private:
  result<void> put(std::string_view term, bool aliases_too, perf_encoding& out) const;

  std::string folder_;
  std::string name_;
  std::uint32_t type_;
  std::optional<std::vector<unsigned>> box_cpus_, core_cpus_;
};

/// All PMUs below `sys_root`, by name. None is no error: the folder may be masked, and software events need
/// no file.
std::vector<pmu_device> find_pmu_devices(const std::string& sys_root);

}  // namespace binnacle::agent
