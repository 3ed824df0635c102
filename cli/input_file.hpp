#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <string>

namespace binnacle::cli {

/// The whole of a file that a user named; "-" is standard input, and a pipe will do. Errors: why not, with
/// the remedy and without the name: not_found, permission, invalid_input (a folder, a device, more than
/// `most` bytes), io. Blocks until the file or pipe ends.
result<std::string> input_file(const std::string& name, std::size_t most);

}  // namespace binnacle::cli
