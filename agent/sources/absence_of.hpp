#pragma once

#include "common/wire/messages.hpp"

namespace binnacle::agent {

/// Why a series has no value, for an errno of open(2), pread(2) or a libpowercap getter.
wire::absence absence_of(int error_number) noexcept;

}  // namespace binnacle::agent
