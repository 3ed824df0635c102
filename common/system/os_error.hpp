#pragma once

#include "common/error.hpp"

#include <string>

namespace binnacle {

/// The kind of an errno of open(2), read(2) and their like.
errc errc_of(int error_number) noexcept;

/// Its words: "Permission denied".
std::string describe(int error_number);

}  // namespace binnacle
