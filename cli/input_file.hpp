#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <string>

namespace binnacle::cli {

/// Reads the whole of a file that a user named; "-" is standard input, and a pipe is allowed. Errors: the
/// reason and the remedy, without the file's name: not_found, permission, invalid_input (a folder, a device,
/// more than `most` bytes), io. Blocks until the file or pipe ends.
result<std::string> input_file(const std::string& name, std::size_t most);

}  // namespace binnacle::cli
