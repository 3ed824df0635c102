#pragma once

#include "aggregator/sender/outbox.hpp"
#include "aggregator/sender/server_answer.hpp"
#include "common/clock.hpp"

#include <cstdint>

namespace binnacle::sender {

/// What happens to a request after the server's answer.
enum class fate : std::uint8_t {
  over,       ///< it was taken, or it is refused for good
  again,      ///< it is sent again, after a pause
  in_halves,  ///< it is sent again at once, in two requests with half of the nodes each
};

/// Keeps what one node sends from costing the others their samples. A server that refuses a request because
/// of one sample often takes none of the rest. So a refused request is sent again in halves, and these in
/// halves, until each refused request is of one node. If one of a hundred nodes is at fault, that takes
/// fourteen more requests. A server that refuses whatever it gets is sent halves only for a short while.
/// Pure.
class triage {
 public:
  /// `o`: what became of the request `p`. Call it for each answer, in order.
  fate of(const outcome& o, const parcel& p, instant now);

 private:
  unsigned refused_in_a_row_ = 0;
  instant whole_until_{};  // until then a refused request is not halved
};

}  // namespace binnacle::sender
