#include "aggregator/sender/triage.hpp"

namespace binnacle::sender {
namespace {

// As many as all parts of a request of 128 nodes. A usual request has 5,000 samples of 125 nodes.
constexpr unsigned refusals_in_vain = 255;
constexpr std::chrono::minutes rest_from_halving(1);

}  // namespace

fate triage::of(const outcome& o, const parcel& p, instant now) {
  if (o.is == outcome::kind::later) return fate::again;
  if (o.is == outcome::kind::taken || o.left_out < p.samples) {
    refused_in_a_row_ = 0;
    return fate::over;
  }
  if (!o.of_content || now < whole_until_) return fate::over;
  if (++refused_in_a_row_ > refusals_in_vain) {
    refused_in_a_row_ = 0;
    whole_until_ = now + rest_from_halving;
    return fate::over;
  }
  return p.nodes > 1 ? fate::in_halves : fate::over;
}

}  // namespace binnacle::sender
