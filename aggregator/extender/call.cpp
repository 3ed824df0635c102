#include "aggregator/extender/call.hpp"

#include "aggregator/extender/answer.hpp"

namespace binnacle::extender {

void call::finish(http::reply reply) {
  if (now_ == instant{}) now_ = shared_.clock();
  auto whole = args_.finish();
  if (whole.has_error() || !problem_.empty()) {
    const bool too_large = args_.too_large() || !problem_.empty();
    reply(
        refused(shared_, verb_, too_large ? 413 : 400, problem_.empty() ? whole.error().message : problem_));
    return;
  }
  auto pieces = body();
  reply(answer(std::move(pieces), decider_.finish(now_, shared_.clock())));
}

}  // namespace binnacle::extender
