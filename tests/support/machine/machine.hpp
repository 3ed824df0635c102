#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::support {

/// A machine that a file of tests/data/machines describes. The file is a report of `binnacle-agent --report`,
/// or written by hand in the same form (tests/data/machines/README.md).
class machine {
 public:
  /// Throws std::runtime_error with the file's name and what is wrong in it.
  explicit machine(const std::string& file);

  /// Makes ROOT/sys and ROOT/proc as that machine's kernel shows them. Counters have their first reading.
  void write(const std::string& root) const;
  /// Sets each counter that has two readings to its value so many seconds after the first reading.
  void advance(const std::string& root, unsigned seconds) const;

  /// Joules that the perf PMU `power` counted for a zone in the second between its two readings; nothing if
  /// it counted none. `zone` is "psys", "package-0", "dram of package-0" (agent/report/report.hpp).
  std::optional<double> joules_by_perf(std::string_view zone) const;

 private:
  std::string file_;
  YAML::Node whole_;
};

}  // namespace binnacle::support
