#pragma once

#include "common/absence.hpp"
#include "common/error.hpp"

namespace binnacle::agent {

/// The reason to give for a series' missing value when getting it failed with `code`. A read that fails in
/// the kernel, a driver or an exporter (EIO, status 500) is no_data.
absence absence_of(errc code) noexcept;
/// The same for an errno of open(2), pread(2) or a libpowercap getter. 0 gives `none`.
absence absence_of(int error_number) noexcept;

}  // namespace binnacle::agent
