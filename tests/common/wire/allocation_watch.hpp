#pragma once

#include <cstddef>

namespace binnacle::wire::test {

/// What operator new was asked for since this was made, in this thread. The test program replaces operator
/// new for it.
class allocation_watch {
 public:
  allocation_watch() noexcept;
  std::size_t count() const noexcept;
  /// Bytes of the largest single request.
  std::size_t largest() const noexcept;
};

}  // namespace binnacle::wire::test
