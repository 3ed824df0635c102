#pragma once

#include "aggregator/extender/face.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

/// A small world behind an extender: nodes with values, policies with the verdicts that follow from them.
namespace binnacle::test {

struct fleet_answer {
  unsigned status = 0;
  std::string body;
  std::string outcome;  ///< the header Binnacle-Outcome

  std::map<std::string, int> scores() const;  ///< by node, of a prioritize
};

class fleet {
 public:
  fleet();

  /// Adds a node with an agent, or finds it.
  store::node_id node(const std::string& name);
  /// Gives `node` a value of `metric` that was read `age` ago.
  void value(const std::string& node, const std::string& metric, decimal v,
             duration age = std::chrono::milliseconds(180), store::certainty sure = store::certainty::exact);
  /// Gives the node of that id another fresh value, without new verdicts by it.
  void next_value(store::node_id id, const std::string& metric, decimal v);
  void absent(const std::string& node, const std::string& metric, absence why);

  static policy::rule rule(const std::string& metric, policy::comparison op, std::int64_t target);
  static policy::strategy dontschedule(std::vector<policy::rule> rules,
                                       policy::logic op = policy::logic::any_of);
  static policy::strategy scheduleonmetric(policy::rule r);
  /// Publishes `p` with the verdicts that follow from the present values, without `for` and without
  /// hysteresis.
  void publish(policy::policy p);
  void unpublish(const policy::policy_key& key);

  /// Sends `body` in pieces of `piece` bytes.
  fleet_answer filter(std::string_view body, std::size_t piece = 65536);
  fleet_answer prioritize(std::string_view body, std::size_t piece = 65536);
  fleet_answer preempt(std::string_view body, std::size_t piece = 65536);
  fleet_answer send(http::exchange& to, std::string_view body, std::size_t piece);

  /// The newest decision.
  const decision::record& record() const { return *decisions.find({}).front(); }
  /// It as text for people, with all its lines.
  std::string told() const;

  http::request request;  ///< each call has the headers of this request
  instant now = from_ns(1'000'000'000'000);
  policy::view data;
  decision::ring decisions;
  extender::options settings;
  extender::face& face();  ///< made at the first call; later changes of `settings` have no effect

 private:
  store::shared_column& column(const std::string& metric);
  policy::verdict judge(const policy::strategy& s, store::node_id id);
  void refresh();

  std::map<std::string, std::shared_ptr<store::shared_column>> columns_;
  std::map<policy::policy_key, policy::policy> published_;
  bool changed_ = false;
  std::unique_ptr<extender::face> face_;
};

/// node-a 41.2 W, node-b 71.4 W, node-c without a value; policy default/power: dontschedule above 60 W.
struct watts_fleet : fleet {
  explicit watts_fleet(policy::mode how = policy::mode::enforce,
                       policy::missing on_missing = policy::missing::allow);
};

}  // namespace binnacle::test
