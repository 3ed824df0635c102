#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <string>

namespace binnacle {

/// A whole file of at most `most` bytes. Errors, in words that go on after the file's name: not_found,
/// permission, invalid_input (a folder), io, as the system says; overloaded when it is larger. Blocks, on the
/// writer of a pipe too.
result<std::string> read_file(const std::string& path, std::size_t most);

/// The same of what is open as `fd`, from where it stands.
result<std::string> read_file(int fd, std::size_t most);

}  // namespace binnacle
