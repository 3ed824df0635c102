#pragma once

#include "common/http/message.hpp"

#include <functional>
#include <string_view>

namespace binnacle::http {

/// How a handler answers, once, now or later, on the loop it was called on.
using reply = std::function<void(response)>;

/// A request whose body is handled as it arrives, so that a 60 MB body needs no 60 MB buffer. Made by a route
/// for each request, destroyed after the answer, or when the peer goes away (noticed when it is read from or
/// written to).
class exchange {
 public:
  virtual ~exchange() = default;
  /// The next piece of the body; false ends the reading early and asks finish() for the (error) answer.
  virtual bool consume(std::string_view piece) = 0;
  virtual void finish(reply answer) = 0;
};

}  // namespace binnacle::http
