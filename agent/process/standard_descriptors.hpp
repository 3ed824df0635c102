#pragma once

namespace binnacle::agent {

/// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed. Call it first in main. Otherwise the
/// first file or socket that is opened becomes descriptor 0, which means "not there" to libpowercap, or
/// descriptor 2, to which log lines go.
void open_standard_descriptors() noexcept;

/// Closes `first` and all descriptors above it: with close_range(2), or before Linux 5.9 all below 4096.
/// Async-signal-safe.
void close_from(int first) noexcept;

}  // namespace binnacle::agent
