#pragma once

#include "aggregator/extender/decider.hpp"
#include "common/http/exchange.hpp"

namespace binnacle::extender {

/// One call with ExtenderArgs: the common part of filter and prioritize. The body is parsed while it arrives.
class call : public http::exchange, protected args_sink {
 public:
  call(context& shared, decision::verb verb, std::size_t announced)
      : shared_(shared),
        verb_(verb),
        args_(*this, limits_of(shared, verb), announced),
        decider_(shared, verb) {}

  bool consume(std::string_view piece) final {
    now_ = shared_.clock();
    return args_.consume(piece) && problem_.empty();
  }
  /// Answers at once.
  void finish(http::reply reply) final;

 protected:
  void on_pod() override { decider_.choose(args_.pod(), args_.pod_text(), now_); }
  /// The body of the answer to a complete and valid request. Nothing may follow the JSON, not even a line
  /// end: kube-scheduler reads no further, and Go closes a connection that has unread bytes (a line end stays
  /// unread for one length in 2,500).
  virtual std::vector<std::string> body() = 0;
  /// Whether the candidates come from NodeNames; if the request has Nodes, these count. No scheduler sends
  /// both, and a caller that reads whole nodes in the answer has sent Nodes.
  bool by_names() const noexcept {
    return args_.has_names() && args_.items().empty() && !(args_.names().empty() && args_.has_nodes());
  }
  const name_list& candidates() const noexcept { return by_names() ? args_.names() : args_.items(); }

  /// Both verbs need the Pod's text: scores depend on the pod's requests, and filter on its spreading
  /// annotation.
  static args_limits limits_of(const context& shared, decision::verb verb) {
    args_limits out = shared.settings.limits;
    if (verb == decision::verb::prioritize || shared.spreading.watches()) out.pod_text = 2u << 20;
    return out;
  }

  context& shared_;
  const decision::verb verb_;
  args_parser args_;
  decider decider_;
  instant now_{};        // when the last piece came
  std::string problem_;  // why to answer 413, if args_ found nothing wrong
};

}  // namespace binnacle::extender
