#include "aggregator/decision/explain.hpp"

#include "aggregator/decision/difference.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace binnacle::decision {
namespace {

std::string_view name_of(const record& r, const node_names& names, const listed& l) {
  const store::node_id id = r.candidates[l.candidate].id;
  return id != no_node ? names.name(id) : std::string_view(r.strangers[l.stranger]);
}

/// The candidates to list: one node, or all, or refused ones first up to the limit (best scores first for
/// prioritize). Unknown nodes have their names from record::strangers, in order; those beyond are left out.
std::vector<listed> chosen(const record& r, const node_names& names, const explain_options& options) {
  std::vector<listed> out;
  std::uint32_t strangers = 0;
  for (std::uint32_t i = 0; i < r.candidates.size(); ++i) {
    const listed l{i, strangers};
    if (r.candidates[i].id == no_node && strangers++ >= r.strangers.size()) continue;
    const std::string_view name = name_of(r, names, l);
    if (!name.empty() && (options.node.empty() || name == options.node)) out.push_back(l);
  }
  if (options.all || !options.node.empty()) return out;
  const auto rank = [&](const listed& l) {
    const candidate& c = r.candidates[l.candidate];
    return r.what == verb::prioritize ? -c.score : is_refused(c.what) ? 0 : 1;
  };
  const auto before = [&](const listed& a, const listed& b) {
    return std::pair(rank(a), a.candidate) < std::pair(rank(b), b.candidate);
  };
  const std::size_t most = std::min(out.size(), options.nodes);
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(most), out.end(), before);
  out.resize(most);
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
    out.key("podCores").figure(r.pod_cores, 3);
    if (!p.power->takes_learned()) out.field("onlyExternal", true);
  }
  out.end_object();
  out.key("rules").begin_array();
  std::vector<std::uint32_t> refused(p.rules.size());
  for (const candidate& c : r.candidates) {
    if (c.what == candidate_outcome::refused && c.rule < refused.size()) ++refused[c.rule];
  }
  for (std::size_t k = 0; k < p.rules.size(); ++k) {
    out.begin_object().field("rule", p.rules[k].text).field("metric", p.rules[k].metric);
    out.field("operator", policy::to_string(p.rules[k].op)).key("target").raw(plain(p.rules[k].target));
    out.field("refused", refused[k]).end_object();
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
  out.key("power").begin_object().field("cost", to_string(w.is));
  // Without a model or a load nobody knows how many cores are busy.
  if (w.is != predict::cost::known::no) out.key("loadCores").figure(w.load, 3);
  out.key("inFlightCores").figure(w.in_flight, 3);
  if (w.is != predict::cost::known::no) {
    out.key("wattsNow").figure(w.now, 3).key("wattsWithPod").figure(w.with, 3);
    out.key("wattsPerCore").figure(w.per_core, 3);
  }
  if (w.model.exists()) {
    out.field("model", predict::to_string(w.model.from)).field("modelAgeSeconds", r.age_of(w.model).count());
    out.field("coveredPercent", static_cast<int>(w.model.covered_percent));
    out.key("noisePercent").figure(w.model.noise_permille / 10.0, 1);
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
  const std::string_view so = r.spread                     ? std::string_view()
                              : r.what == verb::filter     ? ", so all nodes pass"
                              : r.what == verb::prioritize ? ", so no scores"
                                                           : ", so kube-scheduler may evict pods at any node";
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
  text += r.what == verb::preempt
              ? fmt::format(": kube-scheduler may evict pods at {} of {} full nodes", passed(r), r.asked)
              : fmt::format(": {} of {} nodes pass", passed(r), r.asked);
  if (r.dry_run()) text += fmt::format(" (DryRun: {} would be refused)", r.refused - r.refused_by_spread());
  if (r.unknown != 0) text += fmt::format(", {} of them unknown to this aggregator", r.unknown);
  return text;
}

record_writer::record_writer(json_writer& out, const record& r, const node_names& names,
                             const explain_options& options)
    : out_(out), list_(chosen(r, names, options)), asked_(r.asked) {
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
}

std::size_t record_writer::write_nodes(const record& r, const node_names& names, std::size_t values) {
  std::size_t made = 0;
  while (!complete() && (made == 0 || made < values)) {
    const listed& l = list_[written_++];
    write_node(out_, r, l.candidate, name_of(r, names, l));
    made += std::max<std::size_t>(r.rules(), 1);
  }
  return made;
}

void record_writer::end() {
  out_.end_array().field("nodesOmitted", asked_ - written_);
  if (!complete()) out_.field("cut", true);
  out_.end_object();
}

void write_record(json_writer& out, const record& r, const node_names& names,
                  const explain_options& options) {
  record_writer whole(out, r, names, options);
  (void)whole.write_nodes(r, names, std::numeric_limits<std::size_t>::max());
  whole.end();
}

std::string to_json(const record& r, const node_names& names, const explain_options& options) {
  std::string text;
  json_writer out(text);
  write_record(out, r, names, options);
  return text;
}

std::vector<std::string> to_text(const record& r, const node_names& names, const explain_options& options) {
  std::vector<std::string> lines{rfc3339(r.wall) + ' ' + summary(r)};
  if (r.spread) lines.push_back(spread::text(*r.spread));
  const auto list = chosen(r, names, options);
  for (const listed& l : list) lines.push_back(sentence(r, l.candidate, name_of(r, names, l)));
  if (list.size() < r.asked && options.node.empty())
    lines.push_back(fmt::format("and {} more nodes", r.asked - list.size()));
  return lines;
}

}  // namespace binnacle::decision
