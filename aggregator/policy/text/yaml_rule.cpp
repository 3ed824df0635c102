#include "aggregator/policy/label_keys.hpp"
#include "aggregator/policy/strategies.hpp"
#include "aggregator/policy/text/yaml_strategy.hpp"
#include "common/text/label_syntax.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace binnacle::policy {
namespace {

/// TAS's pattern with ':' and '.' added, which names of recording rules and of other exporters have.
bool is_metric_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == ':' || c == '.';
  });
}

void metric(yaml_map& fields, rule& r) {
  const auto name = fields.get("metricname");
  if (!name) {
    fields.self().refuse("metricname is missing: metricname: rapl_power_watts");
    return;
  }
  r.metric = name->text("the name of a metric").value_or("");
  if (name->is_scalar() && !is_metric_name(r.metric)) {
    name->refuse(fmt::format(
        "{} is not a metric name: 1 to 253 letters, digits, '_', '-', ':', '.'; a series of several "
        "is reached by its flat "
        "name (rapl_power_watts_0), not by a selector",
        in_quotes(r.metric)));
  }
}

/// False when the operator is wrong.
bool comparison_of(yaml_map& fields, rule& r) {
  const auto op = fields.get("operator");
  if (!op) {
    fields.self().refuse("operator is missing: operator: GreaterThan");
    return false;
  }
  std::vector<std::string_view> names;
  for (const comparison c : comparisons) names.push_back(to_string(c));
  const auto which = op->one_of(names);
  if (!which) return false;
  r.op = static_cast<comparison>(*which);
  return true;
}

/// False when the target is wrong: nothing can be said about what is compared with it.
bool target(const strategy_description& of, yaml_map& fields, rule& r) {
  const auto whole = fields.get("target");
  const auto exact = fields.get("targetQuantity");
  if (whole && exact) {
    exact->refuse("target and targetQuantity are both given: remove one");
    return false;
  }
  if (whole) {
    const auto value = whole->integer();
    if (!value) return false;
    r.target = from_integer(*value);
  } else if (exact) {
    const auto value = exact->number();
    if (!value) return false;
    r.target = *value;
  } else if (of.compares) {
    fields.self().say(severity::warning,
                      "there is no target: 0 is taken, as in TAS; write target: 0 if that is meant");
  }
  return true;
}

void window(yaml_map& fields, rule& r) {
  const auto length = fields.get("window");
  if (length) r.window = length->span(duration::zero()).value_or(duration::zero());
  const auto stat = fields.get("statistic");
  if (!stat) return;
  const auto& names = store::statistic_names;
  if (const auto which = stat->one_of({names.begin(), names.end()}))
    r.stat = static_cast<store::statistic>(*which);
  if (!length || (r.window == duration::zero() && length->is_scalar() && length->text("") == "0")) {
    stat->refuse("a statistic is over a window: add window: 30s, or remove it");
  }
}

/// Whether a value beyond the target could be past the clearing threshold.
bool clears_at_once(const rule& r) {
  return *r.clear != r.target && !past_clearing(r.op, r.clear->nano <=> r.target.nano);
}

void clearing(yaml_map& fields, rule& r, bool op_known, bool target_known) {
  const auto below = fields.get("clearBelow");
  const auto above = fields.get("clearAbove");
  if (!op_known) return;  // nobody can say which of the two it should be
  for (const auto& [given, key] : {std::pair(&below, "clearBelow"), std::pair(&above, "clearAbove")}) {
    if (!*given) continue;
    const yaml_value& v = **given;
    const std::string_view right = clearing_key(r.op);
    if (right.empty()) {
      v.refuse(fmt::format("{} has no meaning with {}: remove it", key, to_string(r.op)));
    } else if (right != key) {
      v.refuse(fmt::format("{} does not go with {}: write {}", key, to_string(r.op), right));
    } else {
      r.clear = v.number();
      // A threshold at the target of a strict operator changes nothing. A threshold beyond the target would
      // clear a true rule at once.
      if (!target_known || !r.clear || !clears_at_once(r)) continue;
      const bool clears_below = towards(r.op) == direction::larger;
      v.refuse(fmt::format("{} is {} the target: a violation would clear at once; {} it", key,
                           clears_below ? "above" : "below", clears_below ? "lower" : "raise"));
    }
  }
}

void label(const yaml_value& v, const policy_key& key, rule& r) {
  if (!v.is_scalar()) {
    v.refuse("a label is written as one text: \"key=value\"");
    return;
  }
  const std::string text = v.text("a label").value_or("");
  const auto at = text.find('=');
  if (at == std::string::npos || text.find('=', at + 1) != std::string::npos) {
    v.refuse(fmt::format("{} is not a label: write \"key=value\" with one '='", in_quotes(text)));
    return;
  }
  const std::string name = text.substr(0, at);
  const std::string value = text.substr(at + 1);
  if (!is_label_name(name)) {
    v.refuse(fmt::format(
        "{} is not a name for a label: at most 63 letters, digits, '-', '_', '.', alphanumeric at "
        "both ends; it comes after {}",
        in_quotes(name), labeling_key(key, "")));
  }
  if (const std::string flaw = label_value_flaw(value); !flaw.empty()) {
    v.refuse(value.size() > 200
                 ? fmt::format("{} is too long for a label's value: at most 63 characters", in_quotes(value))
                 : flaw);
  }
  if (std::ranges::any_of(r.labels, [&](const auto& l) { return l.first == name; })) {
    v.refuse(fmt::format("the rule gives the label {} twice: remove one", in_quotes(name)));
  }
  r.labels.emplace_back(name, value);
}

void labels(const strategy_description& of, const policy_key& key, yaml_map& fields, rule& r) {
  const auto list = fields.get("labels");
  if (of.labels != label_form::of_rules) {
    if (list)
      list->say(severity::warning,
                fmt::format("{} does not use labels, labeling does: remove them", of.name));
    return;
  }
  if (!list || (list->is_list() && list->size() == 0)) {
    fields.self().say(severity::warning, "the rule gives no label: add labels: [\"key=value\"]");
    return;
  }
  if (!list->is_list()) {
    list->refuse("a list is expected here: labels: [\"key=value\"]");
    return;
  }
  constexpr std::size_t most = 64;
  if (list->size() > most) {
    list->refuse(fmt::format("{} labels are more than the {} that a rule may give", list->size(), most));
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) label((*list)[i], key, r);
}

}  // namespace

std::optional<rule> parse_rule(strategy_kind kind, const policy_key& key, const yaml_value& v,
                               findings& out) {
  const std::size_t errors = out.errors();
  yaml_map fields(v);
  if (!v.is_map()) return std::nullopt;
  const strategy_description& of = description_of(kind);
  rule r;
  metric(fields, r);
  const bool op_known = comparison_of(fields, r);
  const bool target_known = target(of, fields, r);
  window(fields, r);
  if (const auto hold = fields.get("for")) r.hold = hold->span(duration::zero()).value_or(duration::zero());
  clearing(fields, r, op_known, target_known);
  if (const auto stale = fields.get("staleAfter")) r.stale_after = stale->span(duration(1));
  labels(of, key, fields, r);
  fields.finish();
  if (!of.compares && (r.hold > duration::zero() || r.clear)) {
    v.say(severity::warning,
          fmt::format("{} orders nodes and violates nothing: for, clearBelow and clearAbove do nothing "
                      "here; remove them",
                      of.name));
  }
  if (out.errors() != errors) return std::nullopt;
  return r;
}

}  // namespace binnacle::policy
