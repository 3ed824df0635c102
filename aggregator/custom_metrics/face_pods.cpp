// The part of `face` that answers questions about pods.
#include "aggregator/custom_metrics/asked.hpp"
#include "aggregator/custom_metrics/counted_list.hpp"
#include "aggregator/custom_metrics/face.hpp"
#include "aggregator/custom_metrics/status.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace binnacle::custom_metrics {
namespace {

// About a millisecond. A pod's labels may take as long as some ten pods.
constexpr std::size_t pods_per_slice = 500;
constexpr std::size_t label_bytes_of_a_pod = 1'000;
constexpr std::size_t series_per_slice = 10'000;

bool selects(const questions::selector& wanted, const pod& one) {
  return wanted.empty() || (one.labels && wanted.matches(one.labels));
}

/// Asks one metric of one pod after another. The answer is the pod's own value, or else its node's. A
/// selector of series only leaves series out: it must not make one pod's answer of another pod's series.
class pod_question {
 public:
  pod_question(const store::view& nodes, const asked& a, questions::question of_node,
               const metrics::alias_table& names)
      : nodes_(nodes), of_node_(std::move(of_node)), own_(a.where.metric, names, a.series) {}

  questions::reading ask(const pod& whose, instant now) {
    const store::node_view* node = nodes_.find(whose.node);
    if (node == nullptr) {
      questions::reading none;
      none.value.reason = absence::missing;
      return none;
    }
    if (auto own = own_.of(*node, whose, now)) return *own;
    return of_node_(*node, now);
  }
  std::size_t looked_at() const noexcept { return own_.looked_at(); }

 private:
  const store::view& nodes_;
  questions::question of_node_;
  own_readings own_;
};

/// The pods of a namespace that have a value. Pods that come or go between two slices do no harm, since the
/// list goes on after the last name.
class pod_list final : public http::slices {
 public:
  pod_list(asked a, const pod_source& pods, std::unique_ptr<pod_question> question, face::counters& counted,
           list_memory& lists)
      : asked_(std::move(a)),
        pods_(pods),
        question_(std::move(question)),
        list_(asked_, counted, 64, lists) {}

  bool step() override {
    const std::size_t enough = question_->looked_at() + series_per_slice;
    std::size_t work = 0;
    bool more = false;
    pods_.of(asked_.where.name_space, last_, [&](const pod& one) {
      if (selects(asked_.labels, one)) list_.add(one.name, question_->ask(one, asked_.now));
      last_ = one.name;
      work += 1 + (asked_.labels.empty() ? 0 : one.label_bytes / label_bytes_of_a_pod);
      more = work >= pods_per_slice || question_->looked_at() >= enough;
      return !more && !list_.is_over();
    });
    return more && !list_.is_over();
  }

  http::response take() override { return list_.take(); }

 private:
  const asked asked_;
  const pod_source& pods_;
  const std::unique_ptr<pod_question> question_;
  counted_list list_;
  std::string last_;
};

}  // namespace

face::outcome face::pods(const asked& a) {
  if (const std::string why = sources_.pods->unknown_because(); !why.empty())
    return status(503, "ServiceUnavailable", why);
  return once_known(a, [this, a](bool known) -> std::unique_ptr<http::slices> {
    const path& p = a.where;
    if (!known) {
      return http::ready(not_found(fmt::format(
          "the server could not find the metric {} for pods: no node has announced it", p.metric)));
    }
    if (p.all()) {
      auto question = std::make_unique<pod_question>(nodes_, a, sources_.ask(p.metric, a.series),
                                                     *sources_.aliases->table());
      return std::make_unique<pod_list>(a, *sources_.pods, std::move(question), counted_, list_memory_);
    }
    const auto one = sources_.pods->one(p.name_space, p.object);
    const std::string_view node = one ? one->node : std::string_view();
    return in_turn(node, [this, a] { return http::ready(one_pod(a)); });
  });
}

http::response face::one_pod(const asked& a) {
  const auto one = sources_.pods->one(a.where.name_space, a.where.object);
  if (!one) return not_found(a.missing() + ": no such pod has a node");
  pod_question question(nodes_, a, sources_.ask(a.where.metric, a.series), *sources_.aliases->table());
  const questions::reading got = question.ask(*one, a.now);
  if (!got.value.present(a.now))
    return not_found(fmt::format("{}: {} on node {}", a.missing(), why_absent(got.value, a.now), one->node));
  counted_list list(a, counted_, 1, list_memory_);
  list.add(one->name, got);
  return list.take();
}

}  // namespace binnacle::custom_metrics
