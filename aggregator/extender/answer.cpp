#include "aggregator/extender/answer.hpp"

#include "common/text/json_writer.hpp"

namespace binnacle::extender {
namespace {

class refused_exchange final : public http::exchange {
 public:
  explicit refused_exchange(http::response r) : response_(std::move(r)) {}
  bool consume(std::string_view) override { return false; }
  void finish(http::reply reply) override { reply(std::move(response_)); }

 private:
  http::response response_;
};

}  // namespace

http::response answer(std::vector<std::string> body, decider::made made) {
  http::response r;
  r.body = std::move(body);
  r.headers = {{"Binnacle-Decision", std::to_string(made.id)},
               {"Binnacle-Outcome", std::string(to_string(made.how))}};
  return r;
}

http::response refused(context& shared, decision::verb verb, unsigned status, std::string_view sentence) {
  ++shared.counted.of(verb).bad_request;
  shared.log.debug("{} refused: {}", to_string(verb), sentence);
  std::string text = "{";
  if (verb == decision::verb::filter)
    text += R"("Nodes":null,"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":null,)";
  if (verb == decision::verb::preempt) text += R"("NodeNameToMetaVictims":null,)";
  text += R"("Error":)";
  append_json_string(text, sentence);
  return http::response::json(text + "}\n", status);
}

std::unique_ptr<http::exchange> refuse(context& shared, decision::verb verb, unsigned status,
                                       std::string_view sentence) {
  return std::make_unique<refused_exchange>(refused(shared, verb, status, sentence));
}

}  // namespace binnacle::extender
