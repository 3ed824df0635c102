#pragma once

#include <string>

namespace binnacle::support {

/// The absolute path of tests/data in the source tree. Only data.cpp is compiled with this path, so that two
/// checkouts can share the compiler cache.
std::string data_folder();

}  // namespace binnacle::support
