#include "aggregator/ops/conditions_json.hpp"
#include "aggregator/ops/json_pieces.hpp"
#include "aggregator/ops/power_json.hpp"
#include "aggregator/ops/summary_json.hpp"
#include "aggregator/store/walk.hpp"
#include "common/text/json_writer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

namespace binnacle::ops {
namespace {

constexpr std::size_t most_source_problems = 50;
constexpr std::size_t most_conditions = 10;

void write_listeners(json_writer& out, const std::vector<listener_report>& listeners) {
  out.key("listeners").begin_array();
  for (const auto& l : listeners) {
    const auto& c = l.counters;
    out.begin_object()
        .field("name", l.name)
        .field("address", l.address)
        .field("tls", l.tls)
        .field("open", c.open)
        .field("accepted", c.accepted);
    out.field("rejected", c.rejected)
        .field("requests", c.requests)
        .field("handshakeFailures", c.handshake_failures);
    out.field("malformed", c.malformed).field("timeouts", c.timeouts).end_object();
  }
  out.end_array();
}

/// The first sources that nodes named, as a JSON array, and how many there are.
struct told_sources {
  std::size_t count = 0;
  std::string first;
  json_writer out{first};

  told_sources() { out.begin_array(); }
  told_sources(const told_sources&) = delete;  // out writes into first
  told_sources& operator=(const told_sources&) = delete;

  void add(const std::string& node, const wire::source_status& s) {
    if (++count > most_source_problems) return;
    out.begin_object().field("node", node).field("source", s.source).field("message", s.message).end_object();
  }
  void write(json_writer& to, std::string_view key) {
    out.end_array();
    to.key(key).begin_object().field("count", count).key("first").raw(first).end_object();
  }
};

/// GET /api/v1/status. It looks once at each node, at its sources and at the verdicts that the scheduler
/// gets.
class status_in_slices final : public http::slices {
 public:
  status_in_slices(const policy::view& nodes, self_report self, policy_report about,
                   const decision_totals& decisions, instant now, std::string time)
      : nodes_(nodes),
        self_(std::move(self)),
        about_(std::move(about)),
        decisions_(decisions),
        now_(now),
        time_(std::move(time)),
        place_(nodes) {
    for (const auto& [key, p] : nodes.policies()) {
      ++in_force_;
      dry_ += p->how == policy::mode::dry_run ? 1 : 0;
      by_watts_ = by_watts_ || p->by_watts() != nullptr;
      for (const auto& s : p->strategies) {
        if (s.verdicts != nullptr) all_.push_back({p, &s, {}});
      }
    }
  }

  bool step() override {
    if (!counted_) {
      std::size_t looks = 0;
      counted_ = !place_.go_on([&](const store::node_view& node) {
        looks += looks_of_a_node * (by_watts_ ? 2 : 1) + node.sources.size() + all_.size();
        see(node);
        return looks < looks_per_slice;
      });
      if (counted_) write_head();
      return true;
    }
    const std::size_t end = std::min(all_.size(), written_ + strategies_per_slice);
    for (; written_ < end; ++written_) write_strategy(all_[written_]);
    answer_.end_slice();
    return written_ < all_.size();
  }

  http::response take() override {
    json_writer& out = answer_.out();
    out.end_array();
    write_faults();
    out.end_object().key("decisions").begin_object().field("kept", decisions_.kept);
    out.field("total", decisions_.total).field("dropped", decisions_.dropped).end_object();
    write_listeners(out, self_.listeners);
    out.key("certificates").begin_array();
    for (const auto& c : self_.certificates)
      out.begin_object().field("file", c.file).field("secondsLeft", c.seconds_left).end_object();
    out.end_array().key("warnings").begin_array();
    for (const auto& w : self_.warnings) out.value(w);
    out.end_array().end_object();
    return answer_.take();
  }

 private:
  static constexpr std::size_t looks_per_slice = 50'000;  // at verdicts, each in memory of its own
  static constexpr std::size_t looks_of_a_node = 10;
  static constexpr std::size_t strategies_per_slice = 1'000;

  struct judged {
    std::shared_ptr<const policy::published_policy> owner;
    const policy::published_strategy* strategy;  // of it
    std::array<std::size_t, 5> nodes;            // by policy::state

    std::size_t in(policy::state is) const { return nodes[static_cast<std::size_t>(is)]; }
  };

  void see(const store::node_view& node) {
    connected_ += node.connected ? 1 : 0;
    for (const auto& s : node.sources) {
      if (!s.ok || !s.message.empty()) (s.ok ? partial_ : troubles_).add(node.name, s);
    }
    see_rated(node);
    for (judged& j : all_) {
      const policy::verdict v = j.strategy->verdicts->load(node.id);
      if (const auto i = static_cast<std::size_t>(v.what); i < j.nodes.size()) ++j.nodes[i];
    }
  }

  /// Whoever typed a node's rated watts wrong hears of it here.
  void see_rated(const store::node_view& node) {
    if (!by_watts_ || node.cells == nullptr || model_of(nodes_, node.id) != nullptr) return;
    const std::string why = trouble_of_rated(*node.cells, now_);
    if (!why.empty()) partial_.add(node.name, {"rated watts", true, why});
  }

  void write_head() {
    json_writer& out = answer_.out();
    out.begin_object().field("version", self_.version).field("replica", self_.replica);
    out.field("cluster", self_.cluster).field("mode", self_.mode).field("time", time_);
    const auto up = std::chrono::duration_cast<std::chrono::seconds>(now_ - self_.started);
    out.field("uptimeSeconds", up.count()).key("nodes").begin_object();
    out.field("known", nodes_.nodes().size()).field("connected", connected_).end_object();
    troubles_.write(out, "sourceProblems");
    if (partial_.count > 0) partial_.write(out, "sourcesInPart");
    std::size_t errors = 0;
    for (const auto& p : about_.problems) errors += p.level == policy::severity::error ? 1 : 0;
    out.key("policies").begin_object().field("inForce", in_force_).field("dryRun", dry_);
    out.field("problems", errors).key("strategies").begin_array();
  }

  void write_strategy(const judged& j) {
    json_writer& out = answer_.out();
    out.begin_object().field("policy", j.owner->key.text());
    out.field("strategy", policy::to_string(j.strategy->kind)).field("mode", policy::to_string(j.owner->how));
    out.field("violating", j.in(policy::state::violating)).field("held", j.in(policy::state::held));
    out.field("missing", j.in(policy::state::missing)).field("frozen", j.in(policy::state::frozen));
    out.end_object();
  }

  /// Conditions other than Held and Frozen, which are in the numbers of strategies.
  void write_faults() {
    json_writer& out = answer_.out();
    std::size_t faults = 0;
    out.key("conditions").begin_array();
    for (const policy::condition& c : about_.conditions) {
      if (!c.active || c.what == policy::condition_kind::held || c.what == policy::condition_kind::frozen)
        continue;
      if (++faults <= most_conditions) write_condition(out, c);
    }
    out.end_array();
    if (faults > most_conditions) out.field("moreConditions", faults - most_conditions);
  }

  // Constant after construction.
  const policy::view& nodes_;
  const self_report self_;
  const policy_report about_;
  const decision_totals decisions_;
  const instant now_;
  const std::string time_;
  std::size_t in_force_ = 0, dry_ = 0;
  bool by_watts_ = false;  // a policy places pods by watts

  store::walk place_;
  bool counted_ = false;
  std::size_t connected_ = 0;
  told_sources troubles_, partial_;
  std::vector<judged> all_;  // policies as they were in the beginning
  std::size_t written_ = 0;
  json_pieces answer_;
};

}  // namespace

std::unique_ptr<http::slices> status_json(const policy::view& nodes, self_report self, policy_report about,
                                          const decision_totals& decisions, instant now, std::string time) {
  return std::make_unique<status_in_slices>(nodes, std::move(self), std::move(about), decisions, now,
                                            std::move(time));
}

}  // namespace binnacle::ops
