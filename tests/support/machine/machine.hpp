#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::support {

/// A machine as a file of tests/data/machines describes it: a report that `binnacle-agent --report` wrote, or
/// one written by hand in the same form (tests/data/machines/README.md).
class machine {
 public:
  /// Throws std::runtime_error with the file's name and what is wrong in it.
  explicit machine(const std::string& file);

  /// Makes ROOT/sys and ROOT/proc as that machine's kernel shows them. Counters have their first reading.
  void write(const std::string& root) const;
  /// Moves each counter that has two readings on, to what it is so many seconds after the first one.
  void advance(const std::string& root, unsigned seconds) const;

  /// Joules of a zone of the perf PMU `power` in the second between its two readings; nothing: it gave none.
  /// `zone` is "psys", "package-0", "dram of package-0" (agent/report/report.hpp).
  std::optional<double> joules_by_perf(std::string_view zone) const;

 private:
  std::string file_;
  YAML::Node whole_;
};

}  // namespace binnacle::support
