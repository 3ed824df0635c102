#pragma once

#include "cli/commands.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle::cli {

/// How long steps still take, if the `left` of them take as long as the `done` ones did: ", about 12 s left".
/// Empty while too little is known to say so. Pure.
std::string left_words(std::size_t done, std::size_t left, std::chrono::steady_clock::duration took);

/// One line at a terminal that says what a command is doing, while it has nothing else to say:
/// "doctor: 3 of 14: extender, about 12 s left". It goes with this object. Where standard error is no
/// terminal, a command that takes long says a step every two seconds, each in a line of its own.
class progress {
 public:
  /// `patience`: how long nothing is said where there is no terminal.
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
