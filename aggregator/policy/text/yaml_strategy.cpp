#include "aggregator/policy/text/yaml_strategy.hpp"

#include "aggregator/policy/label_keys.hpp"
#include "aggregator/policy/strategies.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "common/text/label_syntax.hpp"
#include "common/text/plain.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

namespace binnacle::policy {
namespace {

/// Whether the node labels that this strategy would write are legal: their keys hold the policy's name.
void check_label_key(label_form form, const policy_key& key, const yaml_value& v) {
  if (form == label_form::policy_name && !is_label_name(key.name)) {
    v.refuse(
        fmt::format("deschedule labels nodes with the policy's name, which has {} characters; a label's name "
                    "holds 63: shorten the name",
                    key.name.size()));
  }
  if (form == label_form::of_rules) {
    const std::string full = labeling_key(key, "x");
    if (!label_key_flaw(full).empty()) {
      v.refuse(fmt::format(
          "labels of this policy begin with {}, which has {} characters; 253 are allowed: shorten the "
          "policy's name",
          in_quotes(full.substr(0, full.find('/'))), full.find('/')));
    }
  }
}

/// "3" or "20%".
std::optional<node_limit> limit(const yaml_value& v) {
  const auto text = v.text("a number of nodes (3) or a share of them (\"20%\")");
  if (!text) return std::nullopt;
  auto parsed = parse_node_limit(*text);
  if (parsed.has_value()) return *parsed;
  v.refuse(parsed.error().message);
  return std::nullopt;
}

void parse_rules(strategy& s, const policy_key& key, yaml_map& fields, findings& out) {
  const auto rules = fields.get("rules");
  if (!rules || !rules->is_list()) {
    (rules ? *rules : fields.self()).refuse("rules is a list of rules: {metricname, operator, target}");
    return;
  }
  if (rules->size() == 0) {
    rules->say(severity::warning,
               fmt::format("there are no rules: {} does nothing, as with TAS", to_string(s.kind)));
  }
  if (rules->size() > most_rules) {
    rules->refuse(
        fmt::format("{} rules are more than the {} that a strategy may have: make two policies of it",
                    rules->size(), most_rules));
    return;
  }
  for (std::size_t i = 0; i < rules->size(); ++i) {
    if (auto r = parse_rule(s.kind, key, (*rules)[i], out)) s.rules.push_back(std::move(*r));
  }
  if (description_of(s.kind).first_rule_only && rules->size() > 1) {
    (*rules)[1].say(
        severity::warning,
        fmt::format("{} uses only its first rule, as in TAS: remove the others", to_string(s.kind)));
  }
}

/// A share in [least, 1], as a number or a text.
double share(const yaml_value& v, double otherwise, bool above_zero) {
  const auto given = v.number();
  if (!given) return otherwise;
  const double share = static_cast<double>(given->nano) / 1e9;
  if (share <= 1 && (above_zero ? share >= 0.01 : share >= 0)) return share;
  v.refuse(fmt::format("{} is no share from {} to 1", plain(*given), above_zero ? "0.01" : "0"));
  return otherwise;
}

/// The terms of minimizepower.
void parse_power(strategy& s, yaml_map& fields) {
  s.rules = power_rules();
  if (const auto rules = fields.get("rules"); rules && !(rules->is_list() && rules->size() == 0))
    rules->refuse("minimizepower has no rules: it reads load and watts of the nodes by itself; remove them");
  if (const auto by = fields.get("objective")) {
    const auto& names = predict::objective_names;
    if (const auto which = by->one_of({names.begin(), names.end()}))
      s.power.objective = static_cast<predict::objective>(*which);
  }
  if (const auto model = fields.get("model")) {
    const auto which = model->one_of({"Auto", "Learned", "External"});
    if (which) s.power.model = static_cast<power_model>(*which);
  }
  if (const auto format = fields.get("cpuFormat")) {
    if (const auto which = format->one_of({"Percent", "Raw"}))
      s.power.format = static_cast<cpu_format>(*which);
  }
  if (const auto most = fields.get("maxLoad")) s.power.max_load = share(*most, s.power.max_load, true);
  // WAO's second version takes half, and the shipped manifests of its first do not say.
  if (s.power.objective == predict::objective::wao_v2) s.power.pod_usage = 0.5;
  if (const auto usage = fields.get("podUsageAssumption")) {
    const double given = share(*usage, s.power.pod_usage, false);
    if (given > 0) s.power.pod_usage = given;  // 0 is "not set", as with WAO
  }
}

}  // namespace

std::optional<strategy> parse_strategy(strategy_kind kind, const policy_key& key, const yaml_value& v,
                                       findings& out) {
  const std::size_t errors = out.errors();
  yaml_map fields(v);
  if (!v.is_map()) return std::nullopt;
  const strategy_description& is = description_of(kind);
  strategy s;
  s.kind = kind;
  s.on_missing = is.on_missing.value_or(missing::allow);
  if (const auto name = fields.get("policyName"))
    (void)name->text("the policy's name");  // informational, as in TAS
  if (const auto op = fields.get("logicalOperator")) {
    const bool empty = op->is_scalar() && op->text("anyOf or allOf") == "";  // anyOf, as with TAS
    const auto which = empty ? std::nullopt : op->one_of({"anyOf", "allOf"});
    s.op = which == std::optional<std::size_t>(1) ? logic::all_of : logic::any_of;
  }
  if (const auto on_missing = fields.get("onMissing")) {
    const auto which = on_missing->one_of({"Allow", "Reject"});
    s.on_missing = which == std::optional<std::size_t>(1) ? missing::reject : missing::allow;
    if (!is.on_missing)
      on_missing->refuse(
          fmt::format("belongs to {}: {}; remove it", names_with_on_missing(), is.without_data));
  }
  const auto most = fields.get("maxNodes");
  if (most) s.max_nodes = limit(*most);
  const auto pause = fields.get("coolDown");
  if (pause) s.cool_down = pause->span(duration::zero()).value_or(duration::zero());
  for (const auto& only_for_labels : {most, pause}) {
    if (only_for_labels && is.yields != yield::labels) {
      only_for_labels->refuse(
          fmt::format("limits node labels, and {} writes none: it belongs to {}; remove it", is.name,
                      names_of(yield::labels)));
    }
  }
  check_label_key(is.labels, key, v);
  if (is.has_power_terms) {
    parse_power(s, fields);
  } else {
    parse_rules(s, key, fields, out);
  }
  fields.finish();
  if (out.errors() != errors) return std::nullopt;
  if (is.labels == label_form::of_rules) {
    for (const std::string& label : labels_at_odds(s)) {
      v.say(severity::warning, fmt::format("rules with different operators give the label {}: where two of "
                                           "them are true the node gets none of this policy's labels, as "
                                           "with TAS; give them different labels",
                                           in_quotes(label)));
    }
  }
  return s;
}

}  // namespace binnacle::policy
