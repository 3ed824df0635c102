#pragma once

#include "cli/commands.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle::cli {

/// ", about 12 s left": how long the `left` steps will take, if each takes as long as one of the `done` steps
/// did. Empty as long as too little is known. Pure.
std::string left_words(std::size_t done, std::size_t left, std::chrono::steady_clock::duration took);

/// Says on one line of the terminal what a command is doing: "doctor: 3 of 14: extender, about 12 s left".
/// The line disappears with this object. If standard error is no terminal, a long command writes the current
/// step on a line of its own, at most every two seconds.
class progress {
 public:
  /// `patience`: without a terminal, at least this long passes between two lines.
  progress(const terminal& on, std::string command, std::size_t steps,
           std::chrono::milliseconds patience = std::chrono::seconds(2))
      : on_(on), command_(std::move(command)), steps_(steps), patience_(patience) {}
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void step(std::string_view what);

 private:
  const terminal& on_;
  const std::string command_;
  const std::size_t steps_;
  const std::chrono::milliseconds patience_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point spoke_ = began_;
  std::size_t done_ = 0;
};

}  // namespace binnacle::cli
