#pragma once

#include "agent/base/clocks.hpp"
#include "agent/kernel/slow_reader.hpp"
#include "common/absence.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::agent {

/// Small files of sysfs with a number each that are read together: the sensors of a chip, the frequencies of
/// all CPUs. With a slow_reader they are read on one of its threads, and what the loop sees is the last
/// complete reading; without one they are read in the loop.
class number_files {
 public:
  struct number {
    std::int64_t value = 0;
    absence reason = absence::not_read_yet;
  };
  struct file {
    std::string path;
    bool once = false;  ///< a constant (a limit): read once, and again when one of the others comes or goes
  };

  /// `reader` null: the files are read in the loop.
  number_files(std::vector<file> files, std::shared_ptr<slow_reader> reader, clocks time);

  /// Starts a reading when `period` has passed since the last one began and none is under way. True when a
  /// new one is complete.
  bool poll(duration period);
  /// The reading under way takes longer than the reader's patience.
  bool overdue() const;

  /// Of the last complete reading, in the order of the files.
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
