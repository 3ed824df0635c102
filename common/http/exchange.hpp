#pragma once

#include "common/http/message.hpp"

#include <functional>
#include <string_view>

namespace binnacle::http {

/// A handler calls this once to answer, now or later, on the loop on which it was called.
using reply = std::function<void(response)>;

/// A request whose body is handled as it arrives, so that a 60 MB body needs no 60 MB buffer. A route makes
/// one for each request. It is destroyed after the answer, or when the peer goes away (which the server
/// notices when it reads or writes).
class exchange {
 public:
  virtual ~exchange() = default;
  /// The next piece of the body; false ends the reading early and asks finish() for the (error) answer.
  virtual bool consume(std::string_view piece) = 0;
  virtual void finish(reply answer) = 0;
};

}  // namespace binnacle::http
