#include "aggregator/extender/preempt.hpp"

#include "aggregator/extender/answer.hpp"
#include "aggregator/extender/preempt_parser.hpp"

namespace binnacle::extender {
namespace {

class preempt_call final : public http::exchange {
 public:
  explicit preempt_call(context& shared)
      : shared_(shared),
        parser_(shared.settings.limits, shared.settings.victims),
        decider_(shared, decision::verb::preempt) {}

  bool consume(std::string_view piece) override {
    now_ = shared_.clock();
    return parser_.consume(piece);
  }
  void finish(http::reply reply) override;

 private:
  std::string body() const;

  context& shared_;
  preempt_parser parser_;
  decider decider_;
  instant now_{};  // when the last piece came
};

void preempt_call::finish(http::reply reply) {
  if (now_ == instant{}) now_ = shared_.clock();
  const auto whole = parser_.finish();
  if (whole.has_error()) {
    reply(refused(shared_, decision::verb::preempt, parser_.too_large() ? 413 : 400, whole.error().message));
    return;
  }
  decider_.choose(parser_.args().pod(), {}, now_);
  decider_.admit(parser_.args().nodes(), 0, now_);
  std::vector<std::string> pieces;
  pieces.push_back(body());
  reply(answer(std::move(pieces), decider_.finish(now_, shared_.clock())));
}

std::string preempt_call::body() const {
  const preempt_handler& args = parser_.args();
  std::string out = R"({"NodeNameToMetaVictims":{)";
  for (std::size_t i = 0; i < args.nodes().size(); ++i) {
    if (!decider_.admitted(i)) continue;
    out += args.entry(i);
    out += ',';
  }
  if (out.back() == ',') out.pop_back();
  out += "}}";
  return out;
}

}  // namespace

std::unique_ptr<http::exchange> make_preempt(context& shared) {
  return std::make_unique<preempt_call>(shared);
}

}  // namespace binnacle::extender
