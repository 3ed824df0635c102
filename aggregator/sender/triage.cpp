#include "aggregator/sender/triage.hpp"

namespace binnacle::sender {
namespace {

// As many as all parts of a request of 128 nodes. A usual request has 5,000 samples of 125 nodes.
constexpr unsigned refusals_in_vain = 255;
constexpr std::chrono::minutes rest_from_halving(1);

// With the pauses between them, a quarter of a minute: a server that is starting is over it by then.
constexpr unsigned failures_at_first = 6;
// Where a request was given up, the next rounds will bring more of them, and one must not take a quarter of a
// minute each time.
constexpr unsigned failures_when_wary = 2;
constexpr std::chrono::minutes wary_for(10);
// Behind a load balancer one of two backends may fail at everything. One failure then says little.
constexpr unsigned failures_beside_others = 3;
// A server that took something longer ago may fail at everything now.
constexpr std::chrono::minutes taking_is_shown_for(1);

}  // namespace

fate triage::of(const outcome& o, parcel& p, instant now) {
  if (o.is == outcome::kind::later) return o.of_content ? of_failed(p, now) : fate::again;
  if (o.is == outcome::kind::refused && o.left_out == p.samples) return of_refused(o, p, now);
  refused_in_a_row_ = 0;
  taken_at_ = now;
  return fate::over;
}

fate triage::of_refused(const outcome& o, const parcel& p, instant now) {
  if (!o.of_content || now < whole_until_) return fate::over;
  if (++refused_in_a_row_ > refusals_in_vain) {
    refused_in_a_row_ = 0;
    whole_until_ = now + rest_from_halving;
    return fate::over;
  }
  return p.nodes > 1 ? fate::in_halves : fate::over;
}

fate triage::of_failed(parcel& p, instant now) {
  if (p.failing_since == instant()) p.failing_since = now;
  if (++p.failures < (now < wary_until_ ? failures_when_wary : failures_at_first)) return fate::again;
  if (p.nodes > 1) return fate::in_halves;
  const bool takes_others = taken_at_ > p.failing_since && now - taken_at_ < taking_is_shown_for;
  if (!takes_others) return p.alone++ % failures_at_first == 0 ? fate::after_next : fate::again;
  if (++p.beside_others < failures_beside_others) return fate::after_next;
  wary_until_ = now + wary_for;
  return fate::given_up;
}

}  // namespace binnacle::sender
