#pragma once

#include "common/http/sliced.hpp"

#include <memory>

namespace binnacle::support {

/// Makes an answer of slices in one go.
inline http::response whole(http::slices& work) {
  while (work.step()) {
  }
  return work.take();
}
inline http::response whole(std::unique_ptr<http::slices> work) { return whole(*work); }

}  // namespace binnacle::support
