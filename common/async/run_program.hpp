#pragma once

#include "common/async/task.hpp"
#include "common/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace binnacle::async {

/// A program to be run for its output.
struct program {
  std::string path;  ///< looked for in PATH, unless it has a '/'
  std::vector<std::string> arguments = {};
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< beside ours, or instead of ours
};

struct program_outcome {
  int status = 0;      ///< as a shell has it: 128 + the signal that ended it
  std::string output;  ///< of standard output
  std::string errors;  ///< of standard error, its first 4 KiB
};

/// Runs it to its end, without a terminal, input or any descriptor of ours. When `until` comes first, or it
/// says more than `most_output` bytes, it and what it started are killed. Errors: not_found (no such
/// program), permission, timeout, overloaded (it says too much), io. Include from .cpp files only.
task<result<program_outcome>> run_program(program what, deadline until, std::size_t most_output = 1u << 20);

}  // namespace binnacle::async
