#include "aggregator/decision/explain.hpp"

#include "aggregator/decision/difference.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace binnacle::decision {
namespace {

/// The name of each candidate. Unknown nodes get theirs from record::strangers, in order.
std::vector<std::string_view> candidate_names(const record& r, const node_names& names) {
  std::vector<std::string_view> out;
  out.reserve(r.candidates.size());
  std::size_t stranger = 0;
  for (const candidate& c : r.candidates) {
    if (c.id != no_node)
      out.push_back(names.name(c.id));
    else if (stranger < r.strangers.size())
      out.push_back(r.strangers[stranger++]);
    else
      out.push_back({});
  }
  return out;
}

/// The candidates to list: one node, or all, or refused ones first up to the limit (best scores first for
/// prioritize).
std::vector<std::size_t> chosen(const record& r, const std::vector<std::string_view>& names,
                                const explain_options& options) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty() && (options.node.empty() || names[i] == options.node)) out.push_back(i);
  }
  if (options.all || !options.node.empty()) return out;
  const auto before = [&](std::size_t a, std::size_t b) {
    const candidate &x = r.candidates[a], &y = r.candidates[b];
    return r.what == verb::prioritize ? x.score > y.score : is_refused(x.what) && !is_refused(y.what);
  };
  std::stable_sort(out.begin(), out.end(), before);
  if (out.size() > options.nodes) out.resize(options.nodes);
  return out;
}

std::int64_t unix_ms(const record& r) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(r.wall.time_since_epoch()).count();
}

void write_policy(json_writer& out, const record& r) {
  out.key("policy");
  if (!r.policy) {
    out.null().key("rules").begin_array().end_array();
    return;
  }
  const policy_facts& p = *r.policy;
  out.begin_object()
      .field("namespace", p.key.name_space)
      .field("name", p.key.name)
      .field("revision", p.revision);
  out.field("mode", policy::to_string(p.how)).field("logicalOperator", policy::to_string(p.op));
  if (p.power) {
    out.field("objective", predict::to_string(p.power->objective));
    if (predict::has_cap(p.power->objective)) out.key("maxLoad").raw(fmt::format("{}", p.power->max_load));
    out.key("podCores").raw(fmt::format("{:.3f}", r.pod_cores));
  }
  out.end_object();
  out.key("rules").begin_array();
  for (std::size_t k = 0; k < p.rules.size(); ++k) {
    const auto decided = [k](const candidate& c) {
      return c.what == candidate_outcome::refused && c.rule == k;
    };
    out.begin_object().field("rule", p.rules[k].text).field("metric", p.rules[k].metric);
    out.field("operator", policy::to_string(p.rules[k].op)).key("target").raw(plain(p.rules[k].target));
    out.field("refused", std::count_if(r.candidates.begin(), r.candidates.end(), decided)).end_object();
  }
  out.end_array();
}

void write_cell(json_writer& out, const cell& c, const quantity& target) {
  out.begin_object();
  if (c.present()) {
    out.key("value").raw(plain(c.value()));
    if (const auto margin = difference(c.value(), target)) out.key("margin").raw(plain(*margin));
    if (c.partial || !c.covers_window()) out.field("partial", true);
    if (!c.covers_window()) out.field("windowCovered", 100 - c.unknown_percent);
  } else {
    out.field("absent", to_string(c.reason));
  }
  if (c.age_ms >= 0) out.field("ageMs", c.age_ms);
  out.end_object();
}

std::string_view to_string(predict::cost::known k) noexcept {
  switch (k) {
    case predict::cost::known::no: return "unknown";
    case predict::cost::known::error: return "error";
    case predict::cost::known::over: return "over";
    case predict::cost::known::yes: return "known";
  }
  return "unknown";
}

void write_watts(json_writer& out, const record& r, const watts_cell& w) {
  const auto digits = [](float v) { return fmt::format("{:.3f}", v); };
  out.key("power").begin_object().field("cost", to_string(w.is));
  // Without a model or a load nobody knows how many cores are busy.
  if (w.is != predict::cost::known::no) out.key("loadCores").raw(digits(w.load));
  out.key("inFlightCores").raw(digits(w.in_flight));
  if (w.is != predict::cost::known::no) {
    out.key("wattsNow").raw(digits(w.now)).key("wattsWithPod").raw(digits(w.with));
    out.key("wattsPerCore").raw(digits(w.per_core));
  }
  if (w.model.exists()) {
    out.field("model", predict::to_string(w.model.from)).field("modelAgeSeconds", r.age_of(w.model).count());
    out.field("coveredPercent", static_cast<int>(w.model.covered_percent));
    out.key("noisePercent").raw(fmt::format("{:.1f}", w.model.noise_permille / 10.0));
    if (w.model.idle_guessed) out.field("idleGuessed", true);
  }
  out.end_object();
}

void write_node(json_writer& out, const record& r, std::size_t i, std::string_view name) {
  const candidate& c = r.candidates[i];
  out.begin_object().field("node", name).field("verdict", to_string(c.what));
  if (c.what == candidate_outcome::refused) out.field("rule", c.rule);
  if (r.what == verb::prioritize) out.field("score", static_cast<int>(c.score));
  if (c.crowd != 0) out.field("crowd", static_cast<int>(c.crowd));
  if (c.value == standing::beyond) out.field("beyond", true);
  if (c.value == standing::implausible) out.field("implausible", true);
  if (i < r.power.size() && c.id != no_node) write_watts(out, r, r.power[i]);
  out.field("text", sentence(r, i, name)).key("values").begin_array();
  const auto cells = c.id == no_node ? std::span<const cell>() : r.cells_of(i);
  for (std::size_t k = 0; k < cells.size(); ++k) write_cell(out, cells[k], r.policy->rules[k].target);
  out.end_array().end_object();
}

/// The number of nodes that went back to the scheduler.
std::uint32_t passed(const record& r) noexcept {
  return r.asked - (r.dry_run() ? r.refused_by_spread() : r.refused);
}

void write_spread(json_writer& out, const spread::facts& f) {
  out.key("spread").begin_object().field("state", spread::to_string(f.is)).field("rate", f.rate);
  out.field("replicaSet", f.set).field("replicas", f.replicas).field("quota", f.quota);
  out.field("placed", f.placed).field("inFlight", f.in_flight).field("by", spread::to_string(f.kind));
  out.key("areas").begin_array();
  for (const spread::facts::area& a : f.areas)
    out.begin_object().field("name", a.name).field("pods", a.pods).end_object();
  out.end_array().field("refused", f.refused).field("text", spread::text(f)).end_object();
}

std::int32_t oldest_ms(const record& r) noexcept {
  std::int32_t oldest = -1;
  for (const cell& c : r.cells) {
    if (c.present()) oldest = std::max(oldest, c.age_ms);
  }
  return oldest;
}

}  // namespace

std::string summary(const record& r) {
  std::string text = fmt::format("{} for pod {}/{}", to_string(r.what), r.pod.name_space, r.pod.name);
  const std::string_view so = r.spread                 ? std::string_view()
                              : r.what == verb::filter ? ", so all nodes pass"
                                                       : ", so no scores";
  switch (r.how) {
    case outcome::no_label: text += fmt::format(": no label telemetry-policy{}", so); break;
    case outcome::no_policy:
      text += fmt::format(": no policy {} in namespace {}{}", r.wanted, r.pod.name_space, so);
      break;
    case outcome::no_strategy:
      text += fmt::format(": policy {}/{} has no {} rules{}", r.pod.name_space, r.wanted,
                          policy::names_of(asked_for(r.what), "or"), so);
      break;
    case outcome::no_data:
      if (std::ranges::any_of(r.power,
                              [](const watts_cell& w) { return w.is == predict::cost::known::error; }))
        text += ": the pod names no CPU, which WAO's rules need, so no scores";
      else if (r.policy && r.policy->power)
        text += ": no load and model of any of these nodes yet, so no scores";
      else
        text += ": no telemetry for any of these nodes yet";
      break;
    case outcome::decided: break;
  }
  if (r.spread) text += ", spread by podspread-rate";
  if (!r.policy && (!r.spread || r.what == verb::prioritize)) return text;
  if (r.policy)
    text += fmt::format(", policy {}/{} revision {}", r.policy->key.name_space, r.policy->key.name,
                        r.policy->revision);
  if (r.judging_stopped) text += ", nothing is judged any more (onMissing decides)";
  if (r.what == verb::prioritize)
    return text + fmt::format(": {} node{}{}", r.asked, r.asked == 1 ? "" : "s",
                              r.dry_run() ? ", DryRun: no scores given" : " scored");
  text += fmt::format(": {} of {} nodes pass", passed(r), r.asked);
  if (r.dry_run()) text += fmt::format(" (DryRun: {} would be refused)", r.refused - r.refused_by_spread());
  if (r.unknown != 0) text += fmt::format(", {} of them unknown to this aggregator", r.unknown);
  return text;
}

void write_record(json_writer& out, const record& r, const node_names& names,
                  const explain_options& options) {
  out.begin_object().field("id", r.id).field("time", rfc3339(r.wall)).field("unixMs", unix_ms(r));
  out.field("verb", to_string(r.what)).field("outcome", to_string(r.how)).field("dryRun", r.dry_run());
  out.field("tookUs", std::chrono::duration_cast<std::chrono::microseconds>(r.took).count());
  out.key("pod")
      .begin_object()
      .field("namespace", r.pod.name_space)
      .field("name", r.pod.name)
      .field("uid", r.pod.uid)
      .end_object();
  out.field("wantedPolicy", r.wanted);
  write_policy(out, r);
  if (r.judging_stopped) out.field("judgingStopped", true);
  if (r.spread) write_spread(out, *r.spread);
  out.field("candidates", r.asked)
      .field("passed", passed(r))
      .field("refused", r.refused)
      .field("unknown", r.unknown);
  if (const auto oldest = oldest_ms(r); oldest >= 0) out.field("oldestMs", oldest);
  out.field("summary", summary(r)).key("nodes").begin_array();
  const auto called = candidate_names(r, names);
  const auto list = chosen(r, called, options);
  for (const std::size_t i : list) write_node(out, r, i, called[i]);
  out.end_array().field("nodesOmitted", r.asked - list.size()).end_object();
}

std::string to_json(const record& r, const node_names& names, const explain_options& options) {
  std::string text;
  json_writer out(text);
  write_record(out, r, names, options);
  return text;
}

std::string to_json(const ring& decisions, const query& q, const explain_options& options) {
  std::string text;
  json_writer out(text);
  out.begin_object().key("decisions").begin_array();
  for (const record* r : decisions.find(q)) write_record(out, *r, decisions.names(), options);
  out.end_array()
      .field("kept", decisions.size())
      .field("total", decisions.total())
      .field("dropped", decisions.dropped())
      .end_object();
  return text;
}

std::vector<std::string> to_text(const record& r, const node_names& names, const explain_options& options) {
  std::vector<std::string> lines{rfc3339(r.wall) + ' ' + summary(r)};
  if (r.spread) lines.push_back(spread::text(*r.spread));
  const auto called = candidate_names(r, names);
  const auto list = chosen(r, called, options);
  for (const std::size_t i : list) lines.push_back(sentence(r, i, called[i]));
  if (list.size() < r.asked && options.node.empty())
    lines.push_back(fmt::format("and {} more nodes", r.asked - list.size()));
  return lines;
}

}  // namespace binnacle::decision
