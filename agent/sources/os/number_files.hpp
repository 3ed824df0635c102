#pragma once

#include "agent/base/clocks.hpp"
#include "agent/kernel/slow_reader.hpp"
#include "common/absence.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::agent {

/// Small sysfs files with one number each that are read together: a chip's sensors, or the frequencies of all
/// CPUs. With a slow_reader they are read on one of its threads, and the loop sees the last complete reading.
/// Without one they are read in the loop.
class number_files {
 public:
  struct number {
    std::int64_t value = 0;
    absence reason = absence::not_read_yet;
    int error_number = 0;  ///< errno of the reading; 0 if there is a value, or no reading yet
  };
  struct file {
    std::string path;
    bool once = false;  ///< a constant such as a limit: read once, and again when another file comes or goes
  };

  /// If `reader` is null, the files are read in the loop.
  number_files(std::vector<file> files, std::shared_ptr<slow_reader> reader, clocks time);

  /// Starts a reading if none is under way and `period` has passed since the last one began. True if a new
  /// reading is complete.
  bool poll(duration period);
  /// Whether the reading under way takes longer than the reader's patience.
  bool overdue() const;

  /// The numbers of the last complete reading, in the order of the files.
  const std::vector<number>& numbers() const noexcept { return numbers_; }
  instant read_at() const noexcept { return read_at_; }
  duration took() const noexcept { return took_; }

 private:
  struct work;
  bool collect();

  std::shared_ptr<slow_reader> reader_;
  clocks time_;
  std::shared_ptr<work> work_;  // the reading under way may outlive this
  bool busy_ = false;
  instant started_{};
  instant next_{};
  std::vector<number> numbers_;
  instant read_at_{};
  duration took_{};
};

}  // namespace binnacle::agent
