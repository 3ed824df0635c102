#pragma once

#include "aggregator/sender/outbox.hpp"
#include "aggregator/sender/server_answer.hpp"
#include "common/clock.hpp"

#include <cstdint>

namespace binnacle::sender {

/// What happens to a request after the server's answer.
enum class fate : std::uint8_t {
  over,        ///< it was taken, or it is refused for good
  again,       ///< it is sent again, after a pause
  after_next,  ///< it is sent again, after a pause and after the next request was tried
  in_halves,   ///< it is sent again at once, in two requests with half of the nodes each
  given_up,    ///< the server fails at it, and not at others: it is not sent again
};

/// Keeps what one node sends from costing the others their samples. Pure.
///
/// A server that refuses a request because of one sample often takes none of the rest. So a refused request
/// is sent again in halves, and these in halves, until each refused request is of one node. If one of a
/// hundred nodes is at fault, that takes fourteen more requests. A server that refuses whatever it gets is
/// sent halves only for a short while.
///
/// A server may also fail (500) at what is in a request, each time, and all others would wait behind it. So a
/// request at which the server has failed some times is sent in halves, too. If it is of one node, it is
/// given up when the server fails at it three times more and has taken another one less than a minute before
/// each time. While the server fails at everything, nothing is given up.
///
/// To see whether the server takes others, the next request is tried in between. That one may be of the same
/// node (a fleet of one node has no others). If the server takes it, the one that it passed is lost, as out
/// of order. So the next one is tried only at each sixth failure, until the server has taken another.
class triage {
 public:
  /// `o`: what became of the request `p`. Call it for each answer, in order.
  fate of(const outcome& o, parcel& p, instant now);

 private:
  fate of_refused(const outcome& o, const parcel& p, instant now);
  fate of_failed(parcel& p, instant now);

  unsigned refused_in_a_row_ = 0;
  instant whole_until_{};  // until then a refused request is not halved
  instant taken_at_{};     // the newest request that was taken
  instant wary_until_{};   // until then few failures are enough
};

}  // namespace binnacle::sender
