#pragma once

#include "common/error.hpp"

#include <string>

namespace binnacle {

/// The errc for an errno of open(2), read(2) and similar calls.
errc errc_of(int error_number) noexcept;

/// The text for an errno: "Permission denied".
std::string describe(int error_number);

}  // namespace binnacle
