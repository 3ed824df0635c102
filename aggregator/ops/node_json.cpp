#include "aggregator/ops/node_json.hpp"

#include "aggregator/ops/json_pieces.hpp"
#include "aggregator/ops/power_json.hpp"
#include "aggregator/ops/units.hpp"
#include "aggregator/policy/strategies.hpp"
#include "common/metrics/families.hpp"
#include "common/metrics/family_of.hpp"
#include "common/shortest.hpp"
#include "common/text/plain.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace binnacle::ops {
namespace {

/// The age of something that happened at `then`. It is 0 also if that was after `now`, which is when the
/// answer was begun: values go on arriving meanwhile.
std::int64_t age_ms(instant then, instant now) {
  return std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now - then).count(), 0);
}

void write_sample_fields(json_writer& out, const store::sample& s, instant now) {
  if (s.present(now)) {
    out.field("value", s.value);
  } else {
    out.field("absent", to_string(s.absent_because(now)));
  }
  if (s.read_at != instant()) out.field("ageMs", age_ms(s.read_at, now));
  if (!s.present(now)) return;
  if (s.partial || !s.covers_window()) out.field("partial", true);
  if (!s.covers_window()) out.field("windowCovered", 100 - s.unknown_percent);
}

/// Zeros at the end of a foreign series' value are dropped: its exponent says how the value was rounded, not
/// how exactly it was measured.
store::sample shown(store::sample s, bool foreign) {
  if (foreign) s.value = shortest(s.value);
  return s;
}

void write_head(json_writer& out, const store::node_view& node, instant now) {
  out.field("name", node.name).field("connected", node.connected);
  if (node.seen() != instant()) out.field("seenMs", age_ms(node.seen(), now));
  out.field("agentVersion", node.agent_version).field("address", node.peer_address);
  out.key("sources").begin_array();
  for (const auto& s : node.sources) {
    out.begin_object().field("source", s.source).field("ok", s.ok);
    if (!s.message.empty()) out.field("message", s.message);
    out.end_object();
  }
  out.end_array();
  if (!node.warning.empty()) out.field("warning", node.warning);
  out.key("labels").begin_object();
  for (const auto& [key, value] : node.labels) out.field(key, value);
  out.end_object();
}

std::size_t bytes_in_json(std::string_view text) {
  std::string told;
  append_json_string(told, text);
  return told.size();
}

/// Whether a value may cover too little of a window. Old names and users' aliases may bring a window of their
/// own.
bool may_have_window(const policy::published_rule& rule) {
  return rule.definition.window > duration::zero() || metrics::find(rule.definition.metric) == nullptr;
}

/// The members that name the strategy. They are the same for every node.
std::string head_of(const policy::published_policy& p, const policy::published_strategy& s) {
  std::string text;
  json_writer out(text);
  out.begin_object().field("policy", p.key.text()).field("strategy", policy::to_string(s.kind));
  out.field("mode", policy::to_string(p.how));
  return text.substr(1);
}

/// Writes the strategy's verdict on the node. A strategy that ranks nodes has no verdict, and so no state.
void write_state(json_writer& out, const policy::published_strategy& s, store::node_id id) {
  if (s.verdicts == nullptr) return;
  const policy::verdict v = s.verdicts->load(id);
  out.field("state", policy::to_string(v.what)).field("violating", v.violating);
  const bool decided = v.what != policy::state::pass && v.rule < s.rules.size();
  if (decided) out.field("rule", s.rules[v.rule].text);
  if (v.unknown != 0) out.field("unknownRules", v.unknown);
}

/// Writes the strategy's verdict on the node, and the values that its rules compare.
void write_judged(json_writer& out, const policy::published_policy& p, const policy::published_strategy& s,
                  store::node_id id, instant now) {
  out.begin_object().raw(head_of(p, s));
  write_state(out, s, id);
  out.key("rules").begin_array();
  for (const auto& rule : s.rules) {
    out.begin_object().field("rule", rule.text);
    if (rule.definition.clear && policy::description_of(s.kind).compares)
      out.key("clear").raw(plain(*rule.definition.clear));
    const bool foreign = metrics::family_of(rule.definition.metric) == nullptr;
    write_sample_fields(out, shown(rule.load(id), foreign), now);
    out.end_object();
  }
  out.end_array().end_object();
}

void write_series(json_writer& out, const store::row& cells, std::size_t i, instant now) {
  const store::shape& shape = cells.series();
  const auto& series = shape.all[i];
  out.begin_object().field("family", series.family).key("labels").begin_object();
  for (const auto& [name, value] : series.labels) out.field(name, value);
  out.end_object();
  if (!series.flat.empty()) out.field("flatName", series.flat);
  out.field("unit", unit_of(series.family))
      .field("type", series.type == metrics::kind::counter ? "counter" : "gauge");
  out.field("source", shape.groups[series.group].source);
  write_sample_fields(out, shown(cells.load(i), metrics::find(series.family) == nullptr), now);
  out.end_object();
}

class node_in_slices final : public http::slices {
 public:
  node_in_slices(const store::node_view& node, const policy::policy_table& policies, instant now,
                 const label_reader& object_labels)
      : id_(node.id), cells_(node.cells), now_(now) {
    for (const auto& [key, p] : policies) policies_.push_back(p);
    json_writer& out = answer_.out();
    out.begin_object();
    write_head(out, node, now);
    if (object_labels) {
      out.key("objectLabels").begin_object();
      object_labels(node.name, [&](std::string_view key, std::string_view value) { out.field(key, value); });
      out.end_object();
    }
    out.key("verdicts").begin_array();
  }

  bool step() override {
    const std::size_t enough = bytes_ + bytes_per_slice;
    bool more = true;
    while (more && answer_.bytes() < enough) more = write_next();
    answer_.end_slice();
    bytes_ = answer_.bytes();
    return more;
  }

  http::response take() override {
    answer_.out().end_array().end_object();
    return answer_.take();
  }

 private:
  static constexpr std::size_t bytes_per_slice = 64u << 10;  // some 300 series of a few labels

  /// Writes the verdicts of the next policy, then the next series. False: none was left.
  bool write_next() {
    json_writer& out = answer_.out();
    if (policy_ < policies_.size()) {
      const policy::published_policy& p = *policies_[policy_++];
      for (const auto& s : p.strategies) write_judged(out, p, s, id_, now_);
      return true;
    }
    if (!series_) {
      out.end_array().key("series").begin_array();
      series_ = 0;
    }
    if (cells_ == nullptr || *series_ == cells_->series().all.size()) return false;
    write_series(out, *cells_, (*series_)++, now_);
    return true;
  }

  const store::node_id id_;
  const std::shared_ptr<const store::row> cells_;  // null: no catalog came yet
  const instant now_;
  std::vector<std::shared_ptr<const policy::published_policy>> policies_;
  std::size_t policy_ = 0;             // to write next
  std::optional<std::size_t> series_;  // to write next; none: verdicts are still to be written
  json_pieces answer_;
  std::size_t bytes_ = 0;  // of the answer, at the end of the last slice
};

}  // namespace

void write_sample(json_writer& out, const store::sample& s, instant now) {
  out.begin_object();
  write_sample_fields(out, s, now);
  out.end_object();
}

/// Writes the first rule whose value covers too little of its window, if there is one.
void write_uncovered(json_writer& out, const policy::published_strategy& s, store::node_id id, instant now) {
  for (const policy::published_rule& rule : s.rules) {
    const store::sample seen = rule.load(id);
    if (!seen.present(now) || seen.covers_window()) continue;
    out.key("uncovered").begin_object().field("rule", rule.text);
    out.field("windowCovered", 100 - seen.unknown_percent).end_object();
    return;
  }
}

verdict_writer::verdict_writer(const policy::policy_table& policies, std::size_t bytes) {
  constexpr std::size_t rules_of_a_verdict = 8;  // to look through them takes as long as to write a verdict
  constexpr std::size_t state_bytes = 80;        // with the names of the fields
  constexpr std::size_t uncovered_bytes = 48;    // without the rule
  std::size_t all = 0;
  for (const auto& [key, p] : policies) {
    for (const auto& s : p->strategies) {
      if (s.verdicts == nullptr) continue;
      std::string head = head_of(*p, s);
      std::size_t longest = 0;
      for (const auto& rule : s.rules) longest = std::max(longest, bytes_in_json(rule.text));
      std::size_t size = head.size() + state_bytes + longest;
      if (std::ranges::any_of(s.rules, may_have_window)) size += uncovered_bytes + longest;
      all += size;
      all_.push_back({p, &s, std::move(head), size});
    }
  }
  if (all > bytes) leave_out(bytes);
  for (const judged_strategy& s : all_) work_ += 1 + s.strategy->rules.size() / rules_of_a_verdict;
}

/// Keeps the first strategy of each namespace, then the second of each, and so on, while there is room.
void verdict_writer::leave_out(std::size_t bytes) {
  std::vector<std::pair<std::size_t, std::size_t>> turns;  // which of its namespace it is, and its place
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const bool is_first = i == 0 || all_[i].owner->key.name_space != all_[i - 1].owner->key.name_space;
    turns.emplace_back(is_first ? 0 : turns.back().first + 1, i);
  }
  std::sort(turns.begin(), turns.end());
  std::vector<bool> kept(all_.size());
  for (const auto& [turn, i] : turns) {
    if (all_[i].bytes > bytes) continue;
    bytes -= all_[i].bytes;
    kept[i] = true;
  }
  std::vector<judged_strategy> all;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (kept[i]) all.push_back(std::move(all_[i]));
  }
  left_out_ = all_.size() - all.size();
  all_ = std::move(all);
}

void verdict_writer::write(json_writer& out, store::node_id id, instant now) const {
  out.begin_array();
  for (const judged_strategy& s : all_) {
    out.begin_object().raw(s.head);
    write_state(out, *s.strategy, id);
    write_uncovered(out, *s.strategy, id, now);
    out.end_object();
  }
  out.end_array();
}

std::size_t write_node(json_writer& out, const store::node_view& node,
                       const std::vector<asked_metric>& metrics, const verdict_writer& verdicts,
                       const predict::model* known, instant now) {
  std::size_t looked_at = 0;
  out.begin_object();
  write_head(out, node, now);
  out.key("values").begin_object();
  for (const asked_metric& m : metrics) {
    const questions::reading got = m.ask(node, now);
    looked_at += got.looked_at;
    out.key(m.name);
    write_sample(out, shown(got.value, m.foreign), now);
  }
  out.end_object();
  if (known != nullptr) {
    out.key("model");
    write_model_in_short(out, *known);
  }
  out.key("verdicts");
  verdicts.write(out, node.id, now);
  out.end_object();
  return looked_at;
}

std::unique_ptr<http::slices> node_in_full(const store::node_view& node, const policy::policy_table& policies,
                                           instant now, const label_reader& object_labels) {
  return std::make_unique<node_in_slices>(node, policies, now, object_labels);
}

}  // namespace binnacle::ops
