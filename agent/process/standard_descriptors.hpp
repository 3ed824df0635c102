#pragma once

namespace binnacle::agent {

/// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed. Call it first in main: otherwise the
/// first file or socket that is opened becomes descriptor 0, which libpowercap takes for "not there", or 2,
/// where log lines go.
void open_standard_descriptors() noexcept;

/// Closes `first` and all descriptors above it: with close_range(2), before Linux 5.9 those below 4096.
/// Async-signal-safe.
void close_from(int first) noexcept;

}  // namespace binnacle::agent
