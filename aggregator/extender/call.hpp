#pragma once

#include "aggregator/extender/decider.hpp"
#include "common/http/exchange.hpp"

namespace binnacle::extender {

/// One scheduler call: what filter and prioritize have in common. The body goes through the parser as it
/// comes.
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
  /// The body of the answer to a complete and sound request. It ends where its JSON does: kube-scheduler
  /// reads no further, and Go gives up a connection on which anything is left over (a line's end is, for one
  /// length in 2,500).
  virtual std::vector<std::string> body() = 0;
  /// The candidates: Nodes' items, or NodeNames where there are none. No scheduler sends both; what reads a
  /// full reply sent Nodes.
  bool by_names() const noexcept {
    return args_.has_names() && args_.items().empty() && !(args_.names().empty() && args_.has_nodes());
  }
  const name_list& candidates() const noexcept { return by_names() ? args_.names() : args_.items(); }

  /// Scores depend on what the pod asks for, and filter on whether it asks to be spread.
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
  std::string problem_;  // 413 for what args_ does not know of
};

}  // namespace binnacle::extender
