#include "aggregator/decision/difference.hpp"
#include "aggregator/decision/explain.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace binnacle::decision {
namespace {

bool holds(const policy_facts::rule& rule, decimal value) noexcept {
  return policy::meets(rule.op, compare(value, rule.target));
}

/// "11.4 over", "18.8 below", "at": how far `value` is from the target.
std::string distance(const policy_facts::rule& rule, decimal value, std::string_view over,
                     std::string_view under) {
  auto d = difference(value, rule.target);
  if (!d) return fmt::format("far {}", compare(value, rule.target) > 0 ? over : under);
  if (d->nano == 0) return "at";
  const bool above = d->nano > 0;
  if (!above) d->nano = -d->nano;
  return fmt::format("{} {}", plain(*d), above ? over : under);
}

std::string read_when(const cell& c) {
  return c.age_ms < 0 ? std::string("never read")
                      : fmt::format("read {} ago", human(std::chrono::milliseconds(c.age_ms)));
}

/// Why a rule counts as true: "rapl_power_watts 71.4 > 60 (11.4 over), read 180ms ago". If the value at the
/// decision does not violate the rule any more, it says what keeps the rule true.
std::string why_true(const policy_facts::rule& rule, const cell& c) {
  const std::string bad = fmt::format("{} {}", sign(rule.op), plain(rule.target));
  if (!c.present())
    return fmt::format("{} was {} and now has no value ({})", rule.metric, bad, to_string(c.reason));
  const std::string value = plain(c.value());
  if (holds(rule, c.value())) {
    const bool at_target = compare(c.value(), rule.target) == 0;
    return fmt::format("{} {} {}{}, {}", rule.metric, value, bad,
                       at_target ? "" : " (" + distance(rule, c.value(), "over", "under") + ")",
                       read_when(c));
  }
  if (!rule.clear)
    return fmt::format("{} was {} and has just become {}, {}", rule.metric, bad, value, read_when(c));
  return fmt::format("{} {} was {} and clears only {} {}, {}", rule.metric, value, bad,
                     policy::clearing_side(rule.op), plain(*rule.clear), read_when(c));
}

/// Why a rule counts as false: "rapl_power_watts 41.2 (18.8 below the target 60), read 180ms ago".
std::string why_false(const policy_facts::rule& rule, const cell& c) {
  if (!c.present()) return fmt::format("{} has no value ({})", rule.metric, to_string(c.reason));
  const std::string value = plain(c.value());
  if (!holds(rule, c.value())) {
    return fmt::format("{} {} ({} the target {}), {}", rule.metric, value,
                       distance(rule, c.value(), "above", "below"), plain(rule.target), read_when(c));
  }
  return fmt::format("{} {} {} {}{}, {}", rule.metric, value, sign(rule.op), plain(rule.target),
                     rule.hold > duration::zero() ? " but not yet for " + duration_text(rule.hold) : "",
                     read_when(c));
}

/// Why a node got no score: no value, or "rapl_power_watts is 41.2 at least (partial: not all sensors
/// answered)".
std::string why_unscored(const policy_facts::rule& rule, const cell& c) {
  if (!c.present()) return why_false(rule, c);
  const std::string_view bound = c.sure == store::certainty::at_least  ? " at least"
                                 : c.sure == store::certainty::at_most ? " at most"
                                                                       : "";
  return fmt::format("{} is {}{} (partial: not all sensors answered), {}", rule.metric, plain(c.value()),
                     bound, read_when(c));
}

/// "rapl_power_watts says -5000, which cannot be (the least is 0, the most 100000), read 180ms ago".
std::string why_implausible(const policy_facts::rule& rule, const cell& c) {
  const auto& [least, most, apart] = rule.plausible;
  std::string can_be;
  if (std::isfinite(least)) can_be += fmt::format("the least is {}", plain(least));
  if (std::isfinite(most))
    can_be +=
        fmt::format("{}the most {}{}", can_be.empty() ? "" : ", ", can_be.empty() ? "is " : "", plain(most));
  return fmt::format("{} says {}, which cannot be ({}), {}", rule.metric, plain(c.value()), can_be,
                     read_when(c));
}

/// "model: the node's own, 48s old, 62 % of its loads measured, ±1.2 %".
std::string model_text(const record& r, const predict::model_note& model) {
  const std::string age = human(r.age_of(model));
  const std::string_view guess =
      model.idle_guessed ? ", its idle watts guessed, since no such node was ever idle" : "";
  if (model.from == predict::model_source::hardware_class)
    return fmt::format("model: that of nodes with the same hardware, {} old{}", age, guess);
  if (model.from == predict::model_source::server)
    return fmt::format("model: its model server's, {} old", age);
  if (model.from == predict::model_source::rated)
    return "model: a line between its rated watts, since nobody has measured such a node";
  return fmt::format("model: the node's own, {} old, {} % of its loads measured, ±{:.1f} %{}", age,
                     model.covered_percent, model.noise_permille / 10.0, guess);
}

/// "load 23.4 cores, read 10s ago, and 4.0 in flight".
std::string load_text(const watts_cell& w, const cell& c) {
  std::string out = fmt::format("load {:.1f} cores, {}", w.load, read_when(c));
  if (w.in_flight > 0) out += fmt::format(", and {:.1f} in flight", w.in_flight);
  return out;
}

/// "202.5 W now, 205.0 W with the pod of 1 cores, 2.72 W a core as its price", or why the pod has no figure
/// here.
std::string figures_text(const record& r, const watts_cell& w) {
  const policy::power_terms& terms = *r.policy->power;
  if (w.is == predict::cost::known::error) {
    return fmt::format(
        "no figure: {} names no CPU, and WAO's rule needs it",
        terms.objective == predict::objective::wao_v1 ? "the pod's first container" : "the pod");
  }
  if (w.is != predict::cost::known::over) {
    const bool priced = terms.objective == predict::objective::best_chord;
    return fmt::format("{:.1f} W now, {:.1f} W with the pod of {:.2g} cores, {:.2f} W a core {}", w.now,
                       w.with, r.pod_cores, w.per_core, priced ? "as its price" : "to the next step");
  }
  if (!predict::has_cap(terms.objective))
    return fmt::format("the pod of {:.2g} cores does not fit beside its load", r.pod_cores);
  return fmt::format("the pod of {:.2g} cores would fill it beyond {:.0f} % load", r.pod_cores,
                     100 * terms.max_load);
}

/// What the pod would cost on a node, or why that is not known.
std::string watts_text(const record& r, std::size_t i) {
  const watts_cell& w = r.power[i];
  const cell& c = r.cells_of(i).front();
  if (!c.present()) return fmt::format("no opinion: {}", why_false(r.policy->rules.front(), c));
  if (r.candidates[i].value == standing::implausible)
    return fmt::format("no opinion: {}", why_implausible(r.policy->rules.front(), c));
  if (!w.model.exists() && r.policy->power->model == policy::power_model::external)
    return "no opinion: no model server has said what it draws, and the policy asks for no other model";
  if (!w.model.exists())
    return "no opinion: nothing is known of its watts yet, by its own meter or by nodes with the same "
           "hardware, and it has no rated ones of use (binnacle power NODE)";
  if (w.is == predict::cost::known::no) return fmt::format("no opinion, {}", load_text(w, c));
  return fmt::format("{}; {}; {}", figures_text(r, w), load_text(w, c), model_text(r, w.model));
}

template <class Text>
std::string each_rule(const record& r, std::size_t i, Text text) {
  std::string out;
  const auto cells = r.cells_of(i);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (k != 0) out += "; ";
    out += text(r.policy->rules[k], cells[k]);
  }
  return out;
}

/// In brackets: which values are incomplete. Empty if all are complete.
std::string partial(const record& r, std::size_t i) {
  bool members = false;
  int covered = 100;
  for (const cell& c : r.cells_of(i)) {
    if (!c.present()) continue;
    members = members || c.partial;
    if (!c.covers_window()) covered = std::min(covered, 100 - c.unknown_percent);
  }
  std::string out;
  if (members) out += " (partial: not all sensors answered)";
  if (covered < 100) out += fmt::format(" (partial: values for {} % of the window)", covered);
  return out;
}

const std::string never_seen = "no agent of that name has been seen";

}  // namespace

std::string sentence(const record& r, std::size_t i, std::string_view name) {
  const candidate& c = r.candidates[i];
  const std::string_view refused = r.dry_run() ? "would be refused" : "refused";
  const bool stranger = c.id == no_node;
  std::string text;
  switch (c.what) {
    case candidate_outcome::passed:
      if (r.rules() == 0) return fmt::format("{} passes", name);
      text = fmt::format("{} passes: {}", name, each_rule(r, i, why_false));
      break;
    case candidate_outcome::refused_spread:
      return fmt::format("{} refused by podspread-rate: {}", name, spread::why(*r.spread, c.rule));
    case candidate_outcome::refused:
      text = fmt::format("{} {}: {}", name, refused,
                         r.policy->op == policy::logic::all_of
                             ? each_rule(r, i, why_true)
                             : why_true(r.policy->rules.at(c.rule), r.cells_of(i)[c.rule]));
      break;
    case candidate_outcome::refused_missing:
      text = fmt::format("{} {} (onMissing: Reject): {}", name, refused,
                         stranger ? never_seen : each_rule(r, i, why_false));
      break;
    case candidate_outcome::unknown: return fmt::format("{} passes: {}", name, never_seen);
    case candidate_outcome::scored: {
      constexpr std::string_view at_the_end =
          ", far outside the other nodes' range, so it counts as the end of that range";
      if (!r.power.empty())
        return fmt::format("{} scores {}: {}{}", name, c.score, watts_text(r, i),
                           c.value == standing::beyond ? at_the_end : "");
      const cell& v = r.cells_of(i).front();
      text = fmt::format("{} scores {}: {} {}, {}", name, c.score, r.policy->rules.front().metric,
                         plain(v.value()), read_when(v));
      if (c.value == standing::beyond) text += at_the_end;
      if (c.crowd != 0)
        text += fmt::format(", less {} for pods just placed there, whose load it does not show yet", c.crowd);
      break;
    }
    case candidate_outcome::unscored:
      if (!r.power.empty() && !stranger)
        return fmt::format("{} scores {}: {}", name, c.score, watts_text(r, i));
      return fmt::format("{} scores {}: {}", name, c.score,
                         stranger                           ? never_seen
                         : c.value == standing::implausible ? each_rule(r, i, why_implausible)
                                                            : each_rule(r, i, why_unscored));
  }
  return text + partial(r, i);
}

}  // namespace binnacle::decision
