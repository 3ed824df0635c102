#pragma once

#include "cli/commands.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle::cli {

/// One line at a terminal that says what a command is doing, while it has nothing else to say:
/// "doctor: 3 of 14: extender". It goes with this object. Where standard error is no terminal it says
/// nothing.
class progress {
 public:
  progress(const terminal& on, std::string command, std::size_t steps)
      : on_(on), command_(std::move(command)), steps_(steps) {}
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void step(std::string_view what);

 private:
  const terminal& on_;
  const std::string command_;
  const std::size_t steps_;
  std::size_t done_ = 0;
};

}  // namespace binnacle::cli
