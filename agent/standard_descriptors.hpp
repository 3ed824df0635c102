#pragma once

namespace binnacle::agent {

/// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed. Call it first in main: otherwise the
/// first file or socket that is opened becomes descriptor 0, which libpowercap takes for "not there", or 2,
/// where log lines go.
void open_standard_descriptors() noexcept;

}  // namespace binnacle::agent
