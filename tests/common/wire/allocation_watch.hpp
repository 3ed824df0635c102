#pragma once

#include <cstddef>

namespace binnacle::wire::test {

/// Watches what this thread asks of operator new while this object exists. The test program replaces operator
/// new for that.
class allocation_watch {
 public:
  allocation_watch() noexcept;
  std::size_t count() const noexcept;
  /// Bytes of the largest single allocation.
  std::size_t largest() const noexcept;
};

}  // namespace binnacle::wire::test
