#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::async {

/// A program to be run for its output.
struct program {
  std::string path;  ///< looked for in PATH, unless it has a '/'
  std::vector<std::string> arguments = {};
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours, or in place of them
  /// Is given what the program writes to standard error, as it comes; may be empty.
  std::function<void(std::string_view)> hears_errors = {};
};

struct program_outcome {
  int status = 0;      ///< as a shell reports it: the exit status, or 128 + the signal that ended it
  std::string output;  ///< what it wrote to standard output
  std::string errors;  ///< what it wrote to standard error, the first 4 KiB
};

/// Runs the program to its end. It has no terminal, no input and none of our descriptors. If `until` passes
/// first, or if it writes more than `most_output` bytes, it is killed together with the processes that it
/// started. Errors: not_found (no such program), permission, timeout, overloaded (too much output, or
/// programs that were killed do not end), io. Include from .cpp files only.
task<result<program_outcome>> run_program(program what, deadline until, std::size_t most_output = 1u << 20);

}  // namespace binnacle::async
