#pragma once

#include <optional>
#include <string>

namespace binnacle::cli {

/// The whole of a file that a user named; "-" is standard input. Nothing if it cannot be read.
std::optional<std::string> input_file(const std::string& name);

}  // namespace binnacle::cli
