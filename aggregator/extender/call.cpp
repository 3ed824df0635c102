#include "aggregator/extender/call.hpp"

#include "aggregator/extender/answer.hpp"

namespace binnacle::extender {

void call::finish(http::reply reply) {
  if (now_ == instant{}) now_ = shared_.clock();
  auto whole = args_.finish();
  if (whole.has_error() || !problem_.empty()) {
    const bool too_large = args_.too_large() || !problem_.empty();
    const std::string sentence = problem_.empty() ? whole.error().message : problem_;
    ++shared_.counted.of(verb_).bad_request;
    shared_.log.debug("{} refused: {}", to_string(verb_), sentence);
    reply(refusal(verb_, too_large ? 413 : 400, sentence));
    return;
  }
  auto pieces = body();
  reply(answer(std::move(pieces), decider_.finish(now_, shared_.clock())));
}

}  // namespace binnacle::extender
