#include "aggregator/policy/text/yaml.hpp"

#include "aggregator/policy/strategies.hpp"
#include "aggregator/policy/text/documents.hpp"
#include "aggregator/policy/text/yaml_strategy.hpp"
#include "common/text/label_syntax.hpp"
#include "common/text/load_yaml.hpp"
#include "common/text/nearest.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace binnacle::policy {
namespace {

constexpr std::string_view our_group = "telemetry.intel.com/v1alpha1";
constexpr std::size_t most_objects = 10'000;

class manifest_reader {
 public:
  manifest_reader(parsed_text& out, findings& found) : out_(out), found_(found) {}

  void read(const document& d) {
    try {
      const YAML::Node root = load_yaml(std::string(d.text));
      object(yaml_value(root, {}, d.first_line, found_), true);
    } catch (const YAML::Exception& e) {
      const int line = e.mark.is_null() ? 0 : d.first_line + e.mark.line + 1;
      found_.add(severity::error, line, {}, fmt::format("this is not YAML: {}; mend the document", e.msg));
      out_.unattributed = true;
    }
  }

 private:
  void object(const yaml_value& v, bool list_allowed) {
    if (++objects_ > most_objects) {
      if (objects_ == most_objects + 1)
        v.refuse(fmt::format("more than {} objects: the rest of the file is not read", most_objects));
      out_.unattributed = true;
      return;
    }
    yaml_map fields(v);
    if (!v.is_map()) {
      out_.unattributed = true;
      return;
    }
    const auto kind = text_of(fields, "kind");
    const auto version = text_of(fields, "apiVersion");
    if (!kind) {
      v.refuse("kind is missing: kind: TASPolicy");
      out_.unattributed = true;
    } else if (*kind == "TASPolicy") {
      policy_object(fields, v, version);
    } else if (*kind == "List" || *kind == "TASPolicyList") {
      list(fields, v, list_allowed);
    } else if (!nearest(*kind, {"TASPolicy", "TASPolicyList"}).empty()) {
      v.refuse(fmt::format("the kind {} is unknown: did you mean {}?", in_quotes(*kind),
                           nearest(*kind, {"TASPolicy", "TASPolicyList"})));
      out_.unattributed = true;
    } else {
      v.say(severity::note,
            fmt::format("an object of kind {} is skipped: only TASPolicy is read here", in_quotes(*kind)));
    }
  }

  static std::optional<std::string> text_of(yaml_map& fields, std::string_view name) {
    const auto v = fields.get(name);
    return v ? v->text(fmt::format("{}, a text,", name)) : std::nullopt;
  }

  void list(yaml_map& fields, const yaml_value& v, bool allowed) {
    if (!allowed) {
      v.refuse("a list in a list is not read: put the policies into one list");
      out_.unattributed = true;
      return;
    }
    const auto items = fields.get("items");
    if (!items) return;
    if (!items->is_list()) {
      items->refuse("a list of objects is expected here");
      out_.unattributed = true;
      return;
    }
    for (std::size_t i = 0; i < items->size() && objects_ <= most_objects; ++i) object((*items)[i], false);
  }

  /// A field that the API server writes. A file may have it only as a copy, so no mistake in it is reported.
  static std::string of_metadata(yaml_map& fields, std::string_view name) {
    const auto metadata = fields.get("metadata");
    if (!metadata || !metadata->is_map()) return {};
    const auto given = yaml_map(*metadata).get(name);
    std::string text = given && given->is_scalar() ? given->text("a text").value_or("") : std::string();
    const bool servers =
        text.size() <= 64 && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
    return servers ? text : std::string();
  }

  /// The identity. Nothing if there is none.
  std::optional<policy_key> key_of(yaml_map& fields) {
    const auto metadata = fields.get("metadata");
    if (!metadata || !metadata->is_map()) {
      (metadata ? *metadata : fields.self())
          .refuse("metadata with the policy's name is missing: metadata: {name: my-policy}");
      return std::nullopt;
    }
    yaml_map meta(*metadata);
    policy_key key;
    const auto name = meta.get("name");
    if (!name) {
      metadata->refuse("the name is missing: name: my-policy (generateName does not work here)");
      return std::nullopt;
    }
    const auto text = name->text("the policy's name");
    if (!text) return std::nullopt;
    if (!is_dns_subdomain(*text)) {
      name->refuse(fmt::format(
          "{} is not an object name: lower-case letters, digits, '-' and '.', alphanumeric at both "
          "ends, at most 253",
          in_quotes(*text)));
      return std::nullopt;
    }
    key.name = *text;
    if (const auto space = meta.get("namespace")) {
      const auto given = space->text("a namespace");
      if (!given) return std::nullopt;
      if (!is_dns_subdomain(*given) || given->size() > 63 || given->find('.') != std::string::npos) {
        space->refuse(fmt::format("{} is not a namespace: lower-case letters, digits and '-', at most 63",
                                  in_quotes(*given)));
        return std::nullopt;
      }
      key.name_space = *given;
    }
    if (key.name.size() > 63) {
      name->say(severity::warning,
                "no pod can choose this policy: the label telemetry-policy holds at most 63 characters; "
                "shorten the name");
    }
    return key;
  }

  void policy_object(yaml_map& fields, const yaml_value& v, const std::optional<std::string>& version) {
    const auto key = key_of(fields);
    if (!key) {
      out_.unattributed = true;
      return;
    }
    const auto twin =
        std::ranges::find_if(out_.policies, [&](const parsed_policy& p) { return p.value.key == *key; });
    if (twin != out_.policies.end()) {
      v.refuse(
          fmt::format("policy {} is given twice in this file, first in line {}: that one counts; remove this "
                      "or rename it",
                      key->text(), twin->line));
      return;
    }
    if (out_.policies.size() >= most_policies) {
      if (!full_)
        v.refuse(fmt::format("more than {} policies: the rest of the file is not read; split the file",
                             most_policies));
      full_ = true;
      out_.unattributed = true;
      return;
    }
    parsed_policy p;
    p.value.key = *key;
    p.value.created = of_metadata(fields, "creationTimestamp");
    p.value.uid = of_metadata(fields, "uid");
    p.line = v.line();
    const std::size_t errors = found_.errors();
    if (version != our_group) {
      const auto place = fields.get("apiVersion");
      (place ? *place : v)
          .refuse(fmt::format("{}: write apiVersion: {}",
                              version ? in_quotes(*version) + " is not a version of TASPolicy known here"
                                      : "apiVersion is missing",
                              our_group));
    }
    fields.skip("status");
    const auto spec = fields.get("spec");
    fields.finish();
    if (spec) {
      read_spec(*spec, p);
    } else {
      v.say(severity::warning, "spec is missing: the policy does nothing");
    }
    // Errors inside a strategy refuse that strategy, not the policy.
    p.usable = found_.errors() - strategy_errors_ == errors;
    strategy_errors_ = 0;
    p.value.revision = content_revision(p.value);
    out_.policies.push_back(std::move(p));
  }

  void read_spec(const yaml_value& spec, parsed_policy& p) {
    yaml_map fields(spec);
    if (const auto mode_given = fields.get("mode")) {
      if (const auto which = mode_given->one_of({"Enforce", "DryRun"}))
        p.value.how = *which == 0 ? mode::enforce : mode::dry_run;
    }
    if (const auto damping = fields.get("herdDamping")) {
      if (const auto which = damping->one_of({"Enabled", "Disabled"}))
        p.value.damping = *which == 0 ? herd_damping::enabled : herd_damping::disabled;
    }
    const auto strategies = fields.get("strategies");
    fields.finish();
    if (!strategies) {
      spec.refuse("strategies is missing: name at least one of " + names_of({}, "or"));
      return;
    }
    yaml_map all(*strategies);
    if (strategies->is_map() && strategies->size() == 0)
      strategies->say(severity::warning, "there is no strategy: the policy does nothing");
    for (const auto& [name, value] : all.all()) {
      const std::size_t before = found_.errors();
      read_strategy(name, value, p);
      strategy_errors_ += found_.errors() - before;
    }
    const auto orders = [](const strategy& s) { return description_of(s.kind).yields == yield::scores; };
    if (std::ranges::count_if(p.value.strategies, orders) > 1) {
      strategies->refuse(
          fmt::format("{} each give the nodes an order, and a pod follows one: make two "
                      "policies of it",
                      names_of(yield::scores)));
    }
  }

  static std::vector<std::string_view> names() {
    std::vector<std::string_view> out;
    for (const strategy_description* s : strategies()) out.push_back(s->name);
    return out;
  }
  static std::optional<strategy_kind> kind_of(std::string_view name) {
    for (const strategy_description* s : strategies()) {
      if (s->name == name) return s->kind;
    }
    return std::nullopt;
  }

  void read_strategy(const std::string& name, const yaml_value& v, parsed_policy& p) {
    const auto known = kind_of(name);
    if (!known) {
      const std::string_view meant = nearest(name, names());
      v.refuse(
          fmt::format("the strategy {} is unknown: {}", in_quotes(name),
                      meant.empty() ? "there are " + names_of({}) : fmt::format("did you mean {}?", meant)));
      // A typing error in a name must not switch off what was in force under the right one.
      if (meant.empty()) return;
      const strategy_kind kind = *kind_of(meant);
      if (p.value.find(kind) == nullptr) p.refused.insert(kind);
      return;
    }
    const strategy_kind kind = *known;
    if (auto s = parse_strategy(kind, p.value.key, v, found_)) {
      p.refused.erase(kind);
      if (const auto rules = yaml_map(v).get("rules")) {
        for (std::size_t i = 0; i < rules->size(); ++i) p.rule_lines[kind].push_back((*rules)[i].line());
      } else {
        p.rule_lines[kind].push_back(v.line());
      }
      p.value.strategies.push_back(std::move(*s));
    } else {
      p.refused.insert(kind);
    }
  }

  parsed_text& out_;
  findings& found_;
  std::size_t objects_ = 0;
  std::size_t strategy_errors_ = 0;
  bool full_ = false;
};

}  // namespace

parsed_text parse_policies(std::string file, std::string_view text) {
  parsed_text out;
  findings found(std::move(file));
  const auto documents = text.size() <= most_text_bytes ? documents_in(text) : std::vector<document>{};
  if (text.size() > most_text_bytes) {
    found.add(severity::error, 0, {},
              fmt::format("the file has more than {} bytes, and none is read: split it", most_text_bytes));
    out.unattributed = true;
  } else if (documents.size() > most_documents) {
    found.add(severity::error, 0, {},
              fmt::format("the file has more than {} documents: split it", most_documents));
    out.unattributed = true;
  } else {
    manifest_reader all(out, found);
    for (const document& d : documents) all.read(d);
  }
  out.problems = found.take();
  return out;
}

}  // namespace binnacle::policy
