#include "aggregator/extender/decider.hpp"

#include "aggregator/decision/explain.hpp"
#include "aggregator/extender/unseen.hpp"
#include "aggregator/extender/watts_loop.hpp"
#include "aggregator/policy/published/refusal.hpp"
#include "aggregator/predict/placing.hpp"
#include "aggregator/predict/pod_spec.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace binnacle::extender {
namespace {

using decision::candidate_outcome;

/// The most unknown nodes that a record keeps by name: a request may name 100,000.
constexpr std::size_t most_strangers = 256;

/// Writes the cell's members in place. If a cell is made elsewhere and then copied, g++ copies it by whole
/// words, and these reads stall on the narrower writes just before.
void write_cell(const store::sample& s, instant now, decision::cell& c) noexcept {
  c.mantissa = s.value.mantissa;
  c.exponent = s.value.exponent;
  c.reason = s.absent_because(now);
  c.partial = s.partial;
  c.sure = s.sure;
  c.unknown_percent = s.unknown_percent & 0x7f;
  if (s.read_at != instant{}) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - s.read_at).count();
    c.age_ms =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(ms, 0, std::numeric_limits<std::int32_t>::max()));
  }
}

/// What all rules say together, as far as a reader gets: it is in the answer once for each node.
std::string all_of_text(const std::vector<policy::published_rule>& rules) {
  constexpr std::size_t long_enough = 300;
  std::string out;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (i > 0 && out.size() + rules[i].text.size() > long_enough)
      return out + fmt::format(" and {} more", rules.size() - i);
    out += (i == 0 ? "" : " and ") + rules[i].text;
  }
  return out;
}

}  // namespace

void decider::choose(const object_meta& pod, std::string_view pod_text, instant now) {
  by_ = shared_.policies.of(shared_.data.policies(), pod, decision::asked_for(record_.what));
  record_.how = by_.how;
  record_.policy = by_.facts;
  record_.pod = {std::string(namespace_of(pod)), pod.name, pod.uid};
  record_.wanted = pod.policy;
  if (record_.what == decision::verb::filter) open_spread(pod_text, now);
  const bool predicts =
      by_.strategy != nullptr && policy::description_of(by_.strategy->kind).predicts_watts();
  if (predicts) cpu_ = predict::pod_cpu_of(pod_text);
  most_listed_ = shared_.decisions.record_limit() /
                 (sizeof(decision::candidate) + record_.rules() * sizeof(decision::cell) +
                  (predicts ? sizeof(decision::watts_cell) : 0));
  if (by_.strategy == nullptr) return;
  record_.judging_stopped = shared_.data.judging_stopped(now);
  if (record_.what == decision::verb::filter) write_refusals();
}

void decider::write_refusals() {
  const auto& strategy = *by_.strategy;
  const std::string head = fmt::format("policy {}: ", by_.policy->key.text());
  const std::string all = all_of_text(strategy.rules);
  const std::string_view kind = to_string(strategy.kind);
  for (const auto& rule : strategy.rules) {
    const std::string& text = strategy.op == policy::logic::all_of ? all : rule.text;
    append_json_string(quoted_refusals_.emplace_back(), fmt::format("{}{} ({})", head, text, kind));
  }
  append_json_string(quoted_refusals_.emplace_back(),
                     fmt::format("{}{} ({}, onMissing: Reject)", head,
                                 record_.judging_stopped ? "nothing is judged any more" : "no data", kind));
}

void decider::look_up(const name_list& names, std::size_t from) {
  ids_.resize(names.size() - from);
  shared_.data.ids().find_all(
      ids_.size(), [&](std::size_t i) { return names[from + i]; }, ids_.data());
  batch_.resize(ids_.size());
  for (std::size_t i = 0; i < ids_.size(); ++i) batch_[i] = {.id = ids_[i]};
}

/// Puts names and values of the batch into the record, for as many candidates as the record may list, and
/// returns their number. Each value is read once.
std::size_t decider::list(const name_list& names, std::size_t from, instant now) {
  const auto rules =
      by_.strategy == nullptr ? std::span<const policy::published_rule>() : by_.strategy->rules;
  const std::size_t listed = std::min(batch_.size(), most_listed_ - record_.candidates.size());
  if (record_.cells.empty()) record_.cells.reserve(listed * rules.size());
  constexpr std::size_t ahead = 16;  // enough to hide a fetch from memory behind the work on those before it
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const store::node_id id = batch_[i].id;
    if (id == decision::no_node) {
      ++record_.unknown;
      if (i >= listed) continue;
      record_.cells.resize(record_.cells.size() + rules.size());
      if (record_.strangers.size() < most_strangers) record_.strangers.emplace_back(names[from + i]);
      continue;
    }
    shared_.decisions.names().learn(id, names[from + i]);
    if (i >= listed) continue;
    for (const policy::published_rule& rule : rules) {
      if (i + ahead < listed) rule.values->prefetch(batch_[i + ahead].id);
      decision::cell& seen = record_.cells.emplace_back();
      write_cell(rule.load(id), now, seen);
      if (seen.present()) oldest_ms_ = std::max(oldest_ms_, seen.age_ms);
    }
  }
  return listed;
}

void decider::admit(const name_list& names, std::size_t from, instant now) {
  record_.asked += static_cast<std::uint32_t>(names.size() - from);
  if (by_.strategy == nullptr && !plan_) return;
  look_up(names, from);
  judge(now);
  if (plan_) spread_out(names, from, now);
  std::array<std::uint32_t, decision::candidate_outcomes> count{};
  for (const auto& c : batch_) ++count[static_cast<std::size_t>(c.what)];
  for (std::size_t k = 0; k < count.size(); ++k) {
    if (is_refused(static_cast<candidate_outcome>(k))) record_.refused += count[k];
    shared_.counted.candidates[k] += count[k];
  }
  const std::size_t listed = list(names, from, now);
  record_.candidates.insert(record_.candidates.end(), batch_.begin(),
                            batch_.begin() + static_cast<std::ptrdiff_t>(listed));
}

/// Judges each candidate of the batch by the policy.
void decider::judge(instant now) {
  if (by_.strategy == nullptr) {
    for (auto& c : batch_)
      c.what = c.id != decision::no_node ? candidate_outcome::passed : candidate_outcome::unknown;
    return;
  }
  const auto& verdicts = *by_.strategy->verdicts;
  const auto last_rule = static_cast<std::uint16_t>(by_.strategy->rules.size() - 1);
  const policy::verdict stopped = policy::verdict_while_stopped(*by_.strategy);
  for (auto& c : batch_) {
    const bool known = c.id != decision::no_node;
    const policy::verdict v = record_.judging_stopped ? stopped
                              : known                 ? verdicts.load(c.id)
                                                      : verdicts.of_unknown_node(now);
    c.rule = std::min(v.rule, last_rule);
    c.what = v.what == policy::state::violating ? candidate_outcome::refused
             : v.what == policy::state::missing ? candidate_outcome::refused_missing
             : known                            ? candidate_outcome::passed
                                                : candidate_outcome::unknown;
  }
}

std::vector<std::uint8_t> decider::score(const name_list& names, instant now) {
  record_.asked += static_cast<std::uint32_t>(names.size());
  const auto areas = shared_.spreading.undecided(record_.pod.uid, now);
  if (by_.strategy == nullptr && !areas) return {};
  look_up(names, 0);
  const std::size_t listed = list(names, 0, now);
  if (by_.strategy == nullptr) return settled(*areas, names, std::vector<std::uint8_t>(names.size()), false);
  auto scores = by_strategy(names, listed, now);
  const bool given = !by_.dry_run() && !no_opinion_;
  std::vector<std::uint8_t> out;
  if (areas)
    out = settled(*areas, names, given ? scores : std::vector<std::uint8_t>(names.size()), given);
  else if (given)
    out = scores;
  if (given) scores = out;
  if (!by_.dry_run()) expect(names, scores, now);
  auto& counted = shared_.counted.candidates;
  std::uint64_t scored = 0;  // nearly all: adding up in memory would make each wait for the one before
  for (const auto& c : batch_) {
    if (c.what == candidate_outcome::scored) {
      ++scored;
    } else {
      ++counted[static_cast<std::size_t>(c.what)];
    }
  }
  counted[static_cast<std::size_t>(candidate_outcome::scored)] += scored;
  for (std::size_t i = 0; i < listed; ++i) batch_[i].score = static_cast<std::int8_t>(scores[i]);
  batch_.resize(listed);
  record_.candidates = std::move(batch_);
  return out;
}

std::vector<std::uint8_t> decider::by_strategy(const name_list& names, std::size_t listed, instant now) {
  switch (policy::description_of(by_.strategy->kind).scores_from) {
    case policy::score_source::metric: return by_metric(names, listed, now);
    case policy::score_source::watts: return by_watts(names, listed, now);
    case policy::score_source::none: break;  // prioritize takes a strategy that yields scores
  }
  no_opinion_ = true;
  return std::vector<std::uint8_t>(names.size());
}

std::vector<std::uint8_t> decider::by_metric(const name_list& names, std::size_t listed, instant now) {
  const policy::published_rule& rule = by_.strategy->rules.front();
  std::vector<std::optional<decimal>> values(names.size());
  const auto take = [&](std::size_t i, bool present, decimal value, store::certainty sure) {
    if (present && !policy::could_be_worse(rule.definition.op, sure)) values[i] = value;
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i < listed) {
      const decision::cell& seen = record_.cells[i];
      take(i, seen.present(), seen.value(), seen.sure);
    } else if (batch_[i].id != decision::no_node) {
      const store::sample s = rule.load(batch_[i].id);
      take(i, s.present(now), s.value, s.sure);
    }
    batch_[i].what = values[i] ? candidate_outcome::scored : candidate_outcome::unscored;
  }
  std::vector<std::uint8_t> scores(names.size());
  const policy::preference better{rule.definition.op, rule.definition.target, rule.values->plausible()};
  policy::out_of_line odd;
  if (shared_.settings.scores == score_mode::value) {
    odd = policy::score_by_value(values, better, scores);
  } else {
    std::vector<std::string_view> views(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) views[i] = names[i];
    odd = policy::score_by_rank(values, views, better, scores);
  }
  set_aside(odd, names, now);
  if (by_.policy->damping == policy::herd_damping::enabled) damp(scores, now);
  return scores;
}

/// Marks and counts values that did not count as they are.
void decider::set_aside(const policy::out_of_line& odd, const name_list& names, instant now) {
  counters& counted = shared_.counted;
  const std::string& metric = by_.strategy->rules.front().definition.metric;
  for (const std::uint32_t i : odd.beyond) batch_[i].value = decision::standing::beyond;
  for (const std::uint32_t i : odd.suspicious) counted.last_beyond = {std::string(names[i]), metric, now};
  for (const std::uint32_t i : odd.implausible) {
    batch_[i].what = candidate_outcome::unscored;
    batch_[i].value = decision::standing::implausible;
    counted.last_implausible = {std::string(names[i]), metric, now};
  }
  counted.beyond += odd.beyond.size();
  counted.implausible += odd.implausible.size();
}

/// Scores each candidate by what the pod would cost there (watts_of()). An impossible load counts as absent,
/// as an impossible value does in by_metric().
std::vector<std::uint8_t> decider::by_watts(const name_list& names, std::size_t listed, instant now) {
  const policy::published_rule& load_rule = by_.strategy->rules.front();
  const policy::power_terms& terms = by_.strategy->power;
  std::vector<placements::unseen> in_flight;
  shared_.placed.gone(record_.pod.uid);  // a pod that a scheduler asks about is on no node yet
  if (by_.policy->damping == policy::herd_damping::enabled)
    in_flight = unseen_by_node(shared_.placed, shared_.data, load_rule, now);
  const double cap = predict::has_cap(terms.objective) ? terms.max_load : 1;
  const auto models = shared_.chords.up_to(cap, shared_.data.models_for(terms));
  const predict::demand pod = predict::demand_of(cpu_, terms.pod_usage, terms.objective);
  record_.pod_cores = pod.cores;

  watts_answer watts = watts_of({terms.objective, pod, terms.pod_usage, load_rule, models, in_flight, now},
                                std::span(record_.cells).first(listed), batch_);
  record_.power = std::move(watts.cells);
  std::vector<std::uint8_t> scores(names.size());
  // Power far from that of the same hardware has a warning of its own: aggregator/outliers.
  const auto beyond = predict::score(terms.objective, watts.costs, scores);
  for (const std::uint32_t i : beyond) batch_[i].value = decision::standing::beyond;
  shared_.counted.beyond += beyond.size();
  policy::out_of_line odd;
  odd.implausible = std::move(watts.implausible);
  set_aside(odd, names, now);
  no_opinion_ = watts.figures == 0;
  if (no_opinion_) {
    for (auto& c : batch_) c.what = candidate_outcome::unscored;
  }
  const bool some_missing = watts.figures != 0 && watts.opinions < names.size();
  if (some_missing && by_.strategy->on_missing == policy::missing::allow)
    give_the_mean(scores, watts.opinions);
  return scores;
}

/// Gives a candidate of which nothing is known the mean score of the others.
void decider::give_the_mean(std::vector<std::uint8_t>& scores, std::uint32_t opinions) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (batch_[i].what == candidate_outcome::scored) sum += scores[i];
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (batch_[i].what != candidate_outcome::scored)
      scores[i] = static_cast<std::uint8_t>((sum + opinions / 2) / opinions);
  }
}

/// Takes one point off a node for each of its pods whose load the ranking value does not show yet. The number
/// that every scored node has at least is not taken off, so that the values still decide under a steady
/// stream of pods.
void decider::damp(std::vector<std::uint8_t>& scores, instant now) {
  shared_.placed.gone(record_.pod.uid);  // a pod that a scheduler asks about is on no node yet
  const auto unseen = unseen_by_node(shared_.placed, shared_.data, by_.strategy->rules.front(), now);
  if (unseen.empty()) return;
  const auto pods_at = [&](std::size_t i) {
    const std::size_t at = index(batch_[i].id);
    return at < unseen.size() ? unseen[at].pods : 0;
  };
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (batch_[i].what == candidate_outcome::scored) least = std::min(least, pods_at(i));
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (batch_[i].what != candidate_outcome::scored) continue;
    const auto off =
        static_cast<std::uint8_t>(std::min<std::uint32_t>(pods_at(i) - least, policy::top_score));
    batch_[i].crowd = off;
    scores[i] -= std::min(scores[i], off);
  }
}

/// Notes where the pod will most likely go: to the node with the best score among those with a value; among
/// equals the pod's uid chooses one. The real binding is seen only after the scheduler has asked about the
/// next pods.
void decider::expect(const name_list& names, const std::vector<std::uint8_t>& scores, instant now) {
  std::optional<std::uint8_t> best;
  std::size_t equals = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (batch_[i].what != candidate_outcome::scored || (best && scores[i] < *best)) continue;
    equals = best == scores[i] ? equals + 1 : 1;
    best = scores[i];
  }
  if (!best || record_.pod.uid.empty()) return;
  std::size_t skip = std::hash<std::string>{}(record_.pod.uid) % equals;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (batch_[i].what != candidate_outcome::scored || scores[i] != *best || skip-- != 0) continue;
    return shared_.placed.expected(record_.pod.uid, names[i], now, cpu_.cores());
  }
}

decider::made decider::finish(instant last_piece, instant now) {
  const bool any_value = oldest_ms_ >= 0;
  if (plan_) record_.spread = std::make_shared<const spread::facts>(std::move(plan_->told));
  const std::uint32_t by_policy = record_.refused - record_.refused_by_spread();
  if (by_.dry_run()) shared_.counted.dry_run_refusals += by_policy;
  const bool nothing_known = no_opinion_ || (!any_value && by_policy == 0);
  if (record_.how == decision::outcome::decided && record_.asked != 0 && nothing_known) {
    record_.how = decision::outcome::no_data;
  }
  if (any_value) shared_.counted.oldest_age_ms.observe(oldest_ms_);
  record_.at = now;
  record_.wall = shared_.settings.wall(now);
  record_.took = now - last_piece;
  auto& counted = shared_.counted.of(record_.what);
  ++counted.answered[static_cast<std::size_t>(record_.how)];
  counted.latency_us.observe(std::chrono::duration_cast<std::chrono::microseconds>(record_.took).count());
  if (shared_.log.enabled(log_level::debug)) shared_.log.debug("{}", decision::summary(record_));
  const auto how = record_.how;
  return {shared_.decisions.add(std::move(record_)), how};
}

}  // namespace binnacle::extender
