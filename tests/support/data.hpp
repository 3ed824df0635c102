#pragma once

#include <string>

namespace binnacle::support {

/// tests/data of the source tree, absolute. Only data.cpp is compiled with the path, so that the compiler
/// cache serves two checkouts.
std::string data_folder();

}  // namespace binnacle::support
