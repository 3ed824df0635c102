#include "aggregator/ops/summary_json.hpp"

#include "aggregator/ops/json_pieces.hpp"
#include "aggregator/policy/published/label_list.hpp"
#include "aggregator/store/walk.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace binnacle::ops {
namespace {

constexpr std::size_t most_source_problems = 50;
constexpr std::size_t most_conditions = 10;

/// How many nodes are in a state that people should know of, and the names of the first ones.
struct concerned {
  std::size_t count = 0;
  std::vector<std::string_view> names;

  void add(std::string_view name, std::size_t most) {
    ++count;
    if (names.size() < most) names.push_back(name);
  }
};

void write_concerned(json_writer& out, std::string_view key, const concerned& c) {
  if (c.count == 0) return;
  out.key(key).begin_object().field("count", c.count).key("nodes").begin_array();
  for (const auto name : c.names) out.value(name);
  out.end_array().end_object();
}

struct tally {
  concerned violating, held, missing, frozen;

  void add(policy::state is, std::string_view name, std::size_t most) {
    switch (is) {
      case policy::state::pass: break;
      case policy::state::violating: violating.add(name, most); break;
      case policy::state::held: held.add(name, most); break;
      case policy::state::missing: missing.add(name, most); break;
      case policy::state::frozen: frozen.add(name, most); break;
    }
  }
};

/// A rule's text with the optional bounds that the short text leaves out.
std::string in_full(policy::strategy_kind kind, const policy::published_rule& shown) {
  const policy::rule& r = shown.definition;
  std::string out = shown.text;
  if (r.clear && policy::description_of(kind).compares)
    out += fmt::format(", {} {}", policy::clearing_key(r.op), plain(*r.clear));
  if (r.stale_after) out += ", staleAfter " + duration_text(*r.stale_after);
  return out;
}

void write_conditions(json_writer& out, const std::vector<policy::condition>& conditions) {
  out.key("conditions").begin_array();
  for (const auto& c : conditions) {
    if (!c.active) continue;
    out.begin_object().field("policy", c.policy.text());
    if (c.strategy) out.field("strategy", policy::to_string(*c.strategy));
    out.field("type", policy::to_string(c.what)).field("message", c.message).end_object();
  }
  out.end_array();
}

void write_cost(json_writer& out, const policy::cost& takes, std::size_t nodes) {
  out.key("takes").begin_object();
  for (const policy::resource r : policy::all_resources)
    out.field(policy::to_string(r), policy::amount_of(takes, r, nodes));
  out.end_object();
}

void write_budget(json_writer& out, const policy::cost_report& costs) {
  out.key("budget").begin_object().field("nodes", costs.nodes);
  for (const policy::resource r : policy::all_resources) {
    out.key(policy::to_string(r)).begin_object();
    out.field("taken", policy::amount_of(costs.all, r, costs.nodes));
    out.field("limit", costs.limits.of(r, policy::scope::all));
    out.field("namespaceLimit", costs.limits.of(r, policy::scope::name_space));
    out.field("policyLimit", costs.limits.of(r, policy::scope::policy)).end_object();
  }
  out.end_object();
}

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
      for (const auto& s : p->strategies) {
        if (s.verdicts != nullptr) all_.push_back({p, &s, {}});
      }
    }
  }

  bool step() override {
    if (!counted_) {
      std::size_t looks = 0;
      counted_ = !place_.go_on([&](const store::node_view& node) {
        looks += looks_of_a_node + node.sources.size() + all_.size();
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
    for (judged& j : all_) {
      const policy::verdict v = j.strategy->verdicts->load(node.id);
      if (const auto i = static_cast<std::size_t>(v.what); i < j.nodes.size()) ++j.nodes[i];
    }
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
    std::vector<policy::condition> faults;
    std::size_t more = 0;
    for (const policy::condition& c : about_.conditions) {
      if (!c.active || c.what == policy::condition_kind::held || c.what == policy::condition_kind::frozen)
        continue;
      if (faults.size() < most_conditions) {
        faults.push_back(c);
      } else {
        ++more;
      }
    }
    write_conditions(answer_.out(), faults);
    if (more > 0) answer_.out().field("moreConditions", more);
  }

  // Constant after construction.
  const policy::view& nodes_;
  const self_report self_;
  const policy_report about_;
  const decision_totals decisions_;
  const instant now_;
  const std::string time_;
  std::size_t in_force_ = 0, dry_ = 0;

  store::walk place_;
  bool counted_ = false;
  std::size_t connected_ = 0;
  told_sources troubles_, partial_;
  std::vector<judged> all_;  // policies as they were in the beginning
  std::size_t written_ = 0;
  json_pieces answer_;
};

void write_policy(json_writer& out, const store::view& nodes, const policy::published_policy& p,
                  const std::optional<policy::cost_report>& costs, std::size_t most_nodes) {
  const bool dry_run = p.how == policy::mode::dry_run;
  std::vector<tally> verdicts(p.strategies.size());
  policy::label_lister carried(p.key.name, most_nodes), would(p.key.name, most_nodes);
  for (const auto& [name, node] : nodes.nodes()) {
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const auto& of = p.strategies[i].verdicts;  // null: it judges no node
      if (of != nullptr) verdicts[i].add(of->load(node->id).what, name, most_nodes);
    }
    carried.add(name, node->labels);
    if (dry_run) would.add(name, node->would_be);
  }
  out.begin_object().field("namespace", p.key.name_space).field("name", p.key.name);
  out.field("revision", p.revision).field("mode", policy::to_string(p.how)).key("strategies").begin_array();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const policy::published_strategy& s = p.strategies[i];
    out.begin_object()
        .field("strategy", policy::to_string(s.kind))
        .field("logicalOperator", policy::to_string(s.op));
    const policy::strategy_description& is = policy::description_of(s.kind);
    if (is.has_power_terms) out.field("terms", policy::to_string(s.power));
    if (is.on_missing) out.field("onMissing", policy::to_string(s.on_missing));
    if (s.max_nodes) out.field("maxNodes", policy::to_string(*s.max_nodes));
    if (s.cool_down > duration::zero()) out.field("coolDown", duration_text(s.cool_down));
    out.key("rules").begin_array();
    for (const auto& r : s.rules) out.value(in_full(s.kind, r));
    out.end_array();
    const tally& t = verdicts[i];
    write_concerned(out, "violating", t.violating);
    write_concerned(out, "held", t.held);
    write_concerned(out, "missing", t.missing);
    write_concerned(out, "frozen", t.frozen);
    out.end_object();
  }
  out.end_array();
  const auto write_labels = [&out](std::string_view key, policy::label_lister& of) {
    out.key(key).begin_array();
    for (const auto& l : of.take()) {
      out.begin_object().field("label", l.label).field("count", l.count).key("nodes").begin_array();
      for (const auto name : l.nodes) out.value(name);
      out.end_array().end_object();
    }
    out.end_array();
  };
  write_labels("labels", carried);
  if (dry_run) write_labels("wouldLabel", would);
  if (costs) {
    const auto at = std::ranges::find(costs->policies, p.key, &policy::cost_report::line::policy);
    if (at != costs->policies.end()) write_cost(out, at->takes, costs->nodes);
  }
  out.end_object();
}

class policies_in_slices final : public http::slices {
 public:
  policies_in_slices(const policy::view& nodes, policy_report about, std::size_t most_nodes)
      : nodes_(nodes), about_(std::move(about)), most_nodes_(most_nodes) {
    for (const auto& [key, p] : nodes.policies()) policies_.push_back(p);
    answer_.out().begin_object().key("policies").begin_array();
  }
  bool step() override {
    if (at_ == policies_.size()) return false;
    write_policy(answer_.out(), nodes_, *policies_[at_++], about_.costs, most_nodes_);
    answer_.end_slice();
    return true;
  }
  http::response take() override {
    json_writer& out = answer_.out();
    out.end_array();
    if (about_.costs) write_budget(out, *about_.costs);
    write_conditions(out, about_.conditions);
    policy::write_problems(out, about_.problems);
    out.end_object();
    return answer_.take();
  }

 private:
  const policy::view& nodes_;
  const policy_report about_;
  const std::size_t most_nodes_;
  std::vector<std::shared_ptr<const policy::published_policy>> policies_;  // as they were in the beginning
  std::size_t at_ = 0;
  json_pieces answer_;
};

class labels_in_slices final : public http::slices {
 public:
  labels_in_slices(const store::view& nodes, std::size_t most) : most_(most), place_(nodes) {
    answer_.out().begin_object().key("nodes").begin_array();
  }
  bool step() override {
    std::size_t labels = 0;
    const bool more = place_.go_on([&](const store::node_view& node) {
      labels += 1 + node.labels.size() + node.would_be.size();
      write(node);
      return labels < labels_per_slice;
    });
    answer_.end_slice();
    return more;
  }
  http::response take() override {
    json_writer& out = answer_.out();
    out.end_array();
    if (omitted_ > 0) out.field("omitted", omitted_);
    out.end_object();
    return answer_.take();
  }

 private:
  static constexpr std::size_t labels_per_slice = 10'000;

  void write(const store::node_view& node) {
    if (node.labels.empty() && node.would_be.empty()) return;
    if (answer_.bytes() > most_) {
      ++omitted_;
      return;
    }
    json_writer& out = answer_.out();
    out.begin_object().field("node", node.name).key("labels").begin_object();
    for (const auto& [key, value] : node.labels) out.field(key, value);
    out.end_object();
    if (!node.would_be.empty()) {
      out.key("wouldBe").begin_object();
      for (const auto& [key, value] : node.would_be) out.field(key, value);
      out.end_object();
    }
    out.end_object();
  }

  const std::size_t most_;
  store::walk place_;
  json_pieces answer_;
  std::size_t omitted_ = 0;  // nodes
};

}  // namespace

std::unique_ptr<http::slices> status_json(const policy::view& nodes, self_report self, policy_report about,
                                          const decision_totals& decisions, instant now, std::string time) {
  return std::make_unique<status_in_slices>(nodes, std::move(self), std::move(about), decisions, now,
                                            std::move(time));
}

std::unique_ptr<http::slices> policy_list(const policy::view& nodes, policy_report about,
                                          std::size_t most_nodes) {
  return std::make_unique<policies_in_slices>(nodes, std::move(about), most_nodes);
}

std::unique_ptr<http::slices> labels_json(const store::view& nodes, std::size_t bytes) {
  return std::make_unique<labels_in_slices>(nodes, bytes);
}

}  // namespace binnacle::ops
