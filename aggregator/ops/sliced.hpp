#pragma once

#include "common/http/message.hpp"

#include <functional>
#include <memory>

namespace binnacle::ops {

/// An answer made piece by piece, so that a list of the whole fleet lets the scheduler's calls through in
/// between.
class slices {
 public:
  virtual ~slices() = default;
  /// Does about a millisecond of the work. False when nothing is left.
  virtual bool step() = 0;
  /// The answer, after step() returned false.
  virtual http::response take() = 0;
};

/// Runs a function on the faces loop, after what is waiting there already (asio::post).
using post = std::function<void(std::function<void()>)>;

/// An exchange that takes one step after another, each behind what else the loop has to do; it stops when the
/// peer goes away.
std::unique_ptr<http::exchange> run_sliced(std::unique_ptr<slices> work, post later);

}  // namespace binnacle::ops
