#include "aggregator/ops/summary_json.hpp"

#include "aggregator/policy/published/label_list.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
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

void write_problems(json_writer& out, const std::vector<policy::problem>& problems) {
  out.key("problems").begin_array();
  for (const auto& p : problems) {
    out.begin_object().field("severity", policy::to_string(p.level)).field("file", p.file);
    if (p.line > 0) out.field("line", p.line);
    if (!p.field.empty()) out.field("field", p.field);
    out.field("message", p.message).end_object();
  }
  out.end_array();
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

void write_nodes(json_writer& out, const store::view& nodes) {
  struct told {
    std::size_t count = 0;
    std::string first;
    json_writer out{first};
  } troubles, partial;
  std::size_t connected = 0;
  for (told* t : {&troubles, &partial}) t->out.begin_array();
  for (const auto& [name, node] : nodes.nodes()) {
    connected += node->connected ? 1 : 0;
    for (const auto& s : node->sources) {
      if (s.ok && s.message.empty()) continue;
      told& t = s.ok ? partial : troubles;
      if (++t.count > most_source_problems) continue;
      t.out.begin_object()
          .field("node", name)
          .field("source", s.source)
          .field("message", s.message)
          .end_object();
    }
  }
  for (told* t : {&troubles, &partial}) t->out.end_array();
  out.key("nodes")
      .begin_object()
      .field("known", nodes.nodes().size())
      .field("connected", connected)
      .end_object();
  const auto write = [&out](std::string_view key, const told& t) {
    out.key(key).begin_object().field("count", t.count).key("first").raw(t.first).end_object();
  };
  write("sourceProblems", troubles);
  if (partial.count > 0) write("sourcesInPart", partial);
}

void write_policies(json_writer& out, const policy::view& nodes, const policy_report& about) {
  std::size_t dry = 0, errors = 0;
  for (const auto& p : about.problems) errors += p.level == policy::severity::error ? 1 : 0;
  for (const auto& [key, p] : nodes.policies()) dry += p->how == policy::mode::dry_run ? 1 : 0;
  out.key("policies").begin_object().field("inForce", nodes.policies().size()).field("dryRun", dry);
  out.field("problems", errors).key("strategies").begin_array();
  // Counts the verdicts that the scheduler gets; one walk over the nodes for all strategies.
  struct judged {
    const policy::published_policy* policy;
    const policy::published_strategy* strategy;
    tally nodes;
  };
  std::vector<judged> all;
  for (const auto& [key, p] : nodes.policies()) {
    for (const auto& s : p->strategies) {
      if (s.verdicts != nullptr) all.push_back({p.get(), &s, {}});
    }
  }
  for (const auto& [name, node] : nodes.nodes()) {
    for (judged& j : all) j.nodes.add(j.strategy->verdicts->load(node->id).what, name, 0);
  }
  for (const judged& j : all) {
    const tally& t = j.nodes;
    out.begin_object().field("policy", j.policy->key.text());
    out.field("strategy", policy::to_string(j.strategy->kind))
        .field("mode", policy::to_string(j.policy->how));
    out.field("violating", t.violating.count).field("held", t.held.count);
    out.field("missing", t.missing.count).field("frozen", t.frozen.count).end_object();
  }
  out.end_array();
  // Conditions other than Held and Frozen, which are in the numbers above.
  std::vector<policy::condition> faults;
  std::size_t more = 0;
  for (const policy::condition& c : about.conditions) {
    if (!c.active || c.what == policy::condition_kind::held || c.what == policy::condition_kind::frozen)
      continue;
    if (faults.size() < most_conditions) {
      faults.push_back(c);
    } else {
      ++more;
    }
  }
  write_conditions(out, faults);
  if (more > 0) out.field("moreConditions", more);
  out.end_object();
}

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
      : nodes_(nodes), about_(std::move(about)), most_nodes_(most_nodes), out_(text_) {
    for (const auto& [key, p] : nodes.policies()) policies_.push_back(p);
    out_.begin_object().key("policies").begin_array();
  }
  bool step() override {
    if (at_ == policies_.size()) return false;
    write_policy(out_, nodes_, *policies_[at_++], about_.costs, most_nodes_);
    return true;
  }
  http::response take() override {
    out_.end_array();
    if (about_.costs) write_budget(out_, *about_.costs);
    write_conditions(out_, about_.conditions);
    write_problems(out_, about_.problems);
    out_.end_object();
    text_ += '\n';
    return http::response::json(std::move(text_));
  }

 private:
  const policy::view& nodes_;
  const policy_report about_;
  const std::size_t most_nodes_;
  std::vector<std::shared_ptr<const policy::published_policy>> policies_;  // as they were in the beginning
  std::size_t at_ = 0;
  std::string text_;
  json_writer out_;
};

}  // namespace

std::string status_json(const policy::view& nodes, const self_report& self, const policy_report& about,
                        const decision_totals& decisions, instant now, const std::string& time) {
  std::string text;
  json_writer out(text);
  out.begin_object()
      .field("version", self.version)
      .field("replica", self.replica)
      .field("cluster", self.cluster);
  out.field("mode", self.mode).field("time", time);
  out.field("uptimeSeconds", std::chrono::duration_cast<std::chrono::seconds>(now - self.started).count());
  write_nodes(out, nodes);
  write_policies(out, nodes, about);
  out.key("decisions").begin_object().field("kept", decisions.kept).field("total", decisions.total);
  out.field("dropped", decisions.dropped).end_object();
  write_listeners(out, self.listeners);
  out.key("certificates").begin_array();
  for (const auto& c : self.certificates) {
    out.begin_object().field("file", c.file).field("secondsLeft", c.seconds_left).end_object();
  }
  out.end_array().key("warnings").begin_array();
  for (const auto& w : self.warnings) out.value(w);
  out.end_array().end_object();
  return text += '\n';
}

std::unique_ptr<http::slices> policy_list(const policy::view& nodes, policy_report about,
                                          std::size_t most_nodes) {
  return std::make_unique<policies_in_slices>(nodes, std::move(about), most_nodes);
}

std::string labels_json(const store::view& nodes) {
  std::string text;
  json_writer out(text);
  out.begin_object().key("nodes").begin_array();
  for (const auto& [name, node] : nodes.nodes()) {
    if (node->labels.empty() && node->would_be.empty()) continue;
    out.begin_object().field("node", name).key("labels").begin_object();
    for (const auto& [key, value] : node->labels) out.field(key, value);
    out.end_object();
    if (!node->would_be.empty()) {
      out.key("wouldBe").begin_object();
      for (const auto& [key, value] : node->would_be) out.field(key, value);
      out.end_object();
    }
    out.end_object();
  }
  out.end_array().end_object();
  return text += '\n';
}

}  // namespace binnacle::ops
