#pragma once

#include "agent/base/board.hpp"
#include "agent/sources/os/proc_text.hpp"

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// The series of single CPUs, if os-per-cpu asks for them. A CPU that goes offline is forgotten.
class each_cpu {
 public:
  explicit each_cpu(board::group_ref group) : group_(group) {}

  /// `stat` is the text of /proc/stat.
  void take(std::string_view stat, board& out);
  /// No CPU's time has moved for long.
  void stand_still(board& out);
  /// The text could not be read.
  void absent(absence reason, board& out);

 private:
  struct cpu {
    std::array<board::series_ref, 8> modes{};
    board::series_ref utilization = board::no_series;
    std::optional<proc::cpu_ticks> last;
    bool seen = false;
  };

  board::group_ref group_;
  std::map<unsigned, cpu> cpus_;
  std::vector<proc::one_cpu> lines_;
};

}  // namespace binnacle::agent
