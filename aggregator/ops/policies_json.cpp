#include "aggregator/ops/conditions_json.hpp"
#include "aggregator/ops/json_pieces.hpp"
#include "aggregator/ops/summary_json.hpp"
#include "aggregator/policy/published/label_list.hpp"
#include "aggregator/store/walk.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace binnacle::ops {
namespace {

/// How many nodes are in a state that people should know of, and the names of the first ones.
struct concerned {
  std::size_t count = 0;
  std::vector<std::string> names;  // copies, because nodes may be forgotten between two slices

  void add(const std::string& name, std::size_t most) {
    ++count;
    if (names.size() < most) names.push_back(name);
  }
};

void write_concerned(json_writer& out, std::string_view key, const concerned& c) {
  if (c.count == 0) return;
  out.key(key).begin_object().field("count", c.count).key("nodes").begin_array();
  for (const auto& name : c.names) out.value(name);
  out.end_array().end_object();
}

struct tally {
  concerned violating, held, missing, frozen;

  void add(policy::state is, const std::string& name, std::size_t most) {
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

/// A policy and what it does at the nodes that were shown to it.
class policy_entry {
 public:
  /// `p` must outlive it.
  policy_entry(const policy::published_policy& p, std::size_t most_nodes)
      : p_(p),
        most_nodes_(most_nodes),
        verdicts_(p.strategies.size()),
        carried_(p.key.name, most_nodes),
        would_(p.key.name, most_nodes) {}

  /// Shows it the next node by name. Returns how many verdicts and labels that was to look at.
  std::size_t see(const store::node_view& node) {
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
      const auto& of = p_.strategies[i].verdicts;  // null: it judges no node
      if (of != nullptr) verdicts_[i].add(of->load(node.id).what, node.name, most_nodes_);
    }
    carried_.add(node.name, node.labels);
    if (is_dry_run()) would_.add(node.name, node.would_be);
    return 1 + verdicts_.size() + node.labels.size() + (is_dry_run() ? node.would_be.size() : 0);
  }

  void write(json_writer& out, const std::optional<policy::cost_report>& costs) {
    out.begin_object().field("namespace", p_.key.name_space).field("name", p_.key.name);
    out.field("revision", p_.revision)
        .field("mode", policy::to_string(p_.how))
        .key("strategies")
        .begin_array();
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
      const policy::published_strategy& s = p_.strategies[i];
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
      const tally& t = verdicts_[i];
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
        for (const auto& name : l.nodes) out.value(name);
        out.end_array().end_object();
      }
      out.end_array();
    };
    write_labels("labels", carried_);
    if (is_dry_run()) write_labels("wouldLabel", would_);
    if (costs) {
      const auto at = std::ranges::find(costs->policies, p_.key, &policy::cost_report::line::policy);
      if (at != costs->policies.end()) write_cost(out, at->takes, costs->nodes);
    }
    out.end_object();
  }

 private:
  bool is_dry_run() const { return p_.how == policy::mode::dry_run; }

  const policy::published_policy& p_;
  const std::size_t most_nodes_;
  std::vector<tally> verdicts_;  // by strategy
  policy::label_lister carried_, would_;
};

class policies_in_slices final : public http::slices {
 public:
  policies_in_slices(const policy::view& nodes, policy_report about, std::size_t most_nodes)
      : about_(std::move(about)), most_nodes_(most_nodes), place_(nodes) {
    for (const auto& [key, p] : nodes.policies()) policies_.push_back(p);
    answer_.out().begin_object().key("policies").begin_array();
  }
  bool step() override {
    const bool more = at_ < policies_.size() ? show_nodes() : tell_some();
    answer_.end_slice();
    return more;
  }
  http::response take() override {
    answer_.out().end_array().end_object();
    return answer_.take();
  }

 private:
  /// Shows some more nodes to the policy whose turn it is.
  bool show_nodes() {
    if (!open_) open_.emplace(*policies_[at_], most_nodes_);
    std::size_t looks = 0;
    const bool more = place_.go_on([&](const store::node_view& node) {
      looks += open_->see(node);
      return looks < looks_per_slice;
    });
    if (more) return true;
    open_->write(answer_.out(), about_.costs);
    open_.reset();
    place_.restart();
    ++at_;
    return true;
  }

  /// Writes what follows the policies: the budget, and some more conditions and problems.
  bool tell_some() {
    json_writer& out = answer_.out();
    const std::size_t conditions = about_.conditions.size(), all = conditions + about_.problems.size();
    if (told_ == 0 && !problems_begun_) {
      out.end_array();
      if (about_.costs) write_budget(out, *about_.costs);
      out.key("conditions").begin_array();
    }
    const std::size_t end = std::min(told_ + told_per_slice, all);
    for (; told_ < std::min(end, conditions); ++told_) write_condition(out, about_.conditions[told_]);
    if (told_ < conditions) return true;
    if (!std::exchange(problems_begun_, true)) out.end_array().key("problems").begin_array();
    for (; told_ < end; ++told_) policy::write_problem(out, about_.problems[told_ - conditions]);
    return told_ < all;
  }

  static constexpr std::size_t looks_per_slice = 10'000;  // at verdicts and labels
  static constexpr std::size_t told_per_slice = 1'000;    // conditions and problems

  const policy_report about_;
  const std::size_t most_nodes_;
  std::vector<std::shared_ptr<const policy::published_policy>> policies_;  // as they were in the beginning
  std::size_t at_ = 0;
  std::optional<policy_entry> open_;  // policies_[at_], while nodes are shown to it
  store::walk place_;
  std::size_t told_ = 0;         // of the conditions, and then of the problems
  bool problems_begun_ = false;  // their list is open
  json_pieces answer_;
};

}  // namespace

std::unique_ptr<http::slices> policy_list(const policy::view& nodes, policy_report about,
                                          std::size_t most_nodes) {
  return std::make_unique<policies_in_slices>(nodes, std::move(about), most_nodes);
}

}  // namespace binnacle::ops
