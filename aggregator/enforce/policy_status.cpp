#include "aggregator/enforce/policy_status.hpp"

#include "aggregator/kube/json.hpp"
#include "aggregator/kube/times.hpp"
#include "aggregator/policy/label_keys.hpp"
#include "aggregator/policy/published/label_list.hpp"
#include "aggregator/policy/published/labels.hpp"
#include "common/text/first_few.hpp"
#include "common/text/json_members.hpp"
#include "common/text/utf8.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace binnacle::enforce {
namespace {

namespace json = boost::json;

constexpr std::size_t most_names = 100;
constexpr std::size_t most_text = 2000;  // bytes of a sentence
constexpr auto age_refresh = std::chrono::minutes(5);

void add(std::string& to, const std::string& sentence) {
  if (to.find(sentence) != to.npos && !sentence.empty()) return;  // two strategies may give the same reason
  if (!to.empty()) to += "; ";
  to += sentence;
}

void count_nodes(policy_facts& out, const policy::published_policy& p, const store::view& nodes,
                 instant now) {
  for (const auto& [name, node] : nodes.nodes()) {
    bool violating = false;
    for (const policy::published_strategy& s : p.strategies) {
      if (s.verdicts) {
        // Frozen nodes, too, that were violating when they were last known.
        const policy::verdict v = s.verdicts->load(node->id);
        violating = violating || v.violating || v.what == policy::state::held;
      }
      for (const policy::published_rule& r : s.rules) {
        const store::sample value = r.load(node->id);
        if (!value.present(now)) continue;
        out.oldest_age = std::max(out.oldest_age.value_or(duration::zero()), now - value.read_at);
      }
    }
    ++out.nodes;
    if (!violating) continue;
    ++out.violating_nodes;
    if (out.violating.size() < most_names) out.violating.push_back(name);
  }
}

std::string would_label(const store::view& nodes, const std::string& policy) {
  constexpr std::size_t named = 3;
  policy::label_lister would(policy, named);
  for (const auto& [name, node] : nodes.nodes()) would.add(name, node->would_be);
  std::string out;
  for (const policy::listed_label& l : would.take())
    add(out, fmt::format("{} would get the label {}", first_few(l.nodes, named, l.count), l.label));
  return out;
}

/// Conditions in the form of metav1.Condition.
class conditions {
 public:
  conditions(const policy_facts& facts, const json::object& present, wall clock)
      : facts_(facts), present_(present), clock_(clock) {}

  void add(std::string_view type, std::string_view status, std::string_view reason,
           const std::string& message) {
    json::object c;
    c["type"] = type;
    c["status"] = status;
    c["reason"] = reason;
    c["message"] = clip(message, most_text);
    c["observedGeneration"] = facts_.generation;
    c["lastTransitionTime"] = since(type, status);
    all_.push_back(std::move(c));
  }
  json::array take() { return std::move(all_); }

 private:
  std::string since(std::string_view type, std::string_view status) const {
    const json::object* c = kube::condition_in(present_, type);
    const bool same = c != nullptr && text_in(*c, "status") == status;
    const std::string_view time = same ? text_in(*c, "lastTransitionTime") : std::string_view();
    return time.empty() ? rfc3339(clock_) : std::string(time);
  }

  const policy_facts& facts_;
  const json::object& present_;
  const wall clock_;
  json::array all_;
};

json::array conditions_of(const policy_facts& f, const json::object& present, wall clock) {
  conditions out(f, present, clock);
  if (f.errors > 0) {
    out.add("Ready", "False", f.in_force ? "PartlyInvalid" : "Invalid", f.first_error);
  } else if (!f.too_costly.empty()) {
    out.add("Ready", "False", "TooCostly", f.too_costly);
  } else if (!f.in_force) {
    out.add("Ready", "Unknown", "NotRead", "the policy is not read yet");
  } else if (!f.not_allowed.empty()) {
    out.add("Ready", "False", "NotAllowed", f.not_allowed);
  } else {
    out.add("Ready", "True", f.dry_run ? "DryRun" : "InForce", f.would_label);
  }
  if (f.nodes == 0) {
    out.add("MetricsAvailable", "Unknown", "NoNodes", "no node has an agent yet");
  } else if (!f.refused.empty()) {
    out.add("MetricsAvailable", "False", "AgentsRefuse", f.refused);
  } else if (!f.unmeasured.empty()) {
    out.add("MetricsAvailable", "False", "MetricMissing", f.unmeasured);
  } else {
    out.add("MetricsAvailable", "True", "Available", "");
  }
  const auto so = [&out](std::string_view type, const std::string& sentence) {
    out.add(type, sentence.empty() ? "False" : "True", sentence.empty() ? "None" : type, sentence);
  };
  so("TooCostly", f.too_costly);
  so("Conflict", f.conflict);
  so("Held", f.held);
  so("Frozen", f.frozen);
  return out.take();
}

std::string sentence_of(const policy_facts& f) {
  if (f.errors > 0)
    return f.errors == 1 ? f.first_error : fmt::format("{} (and {} more)", f.first_error, f.errors - 1);
  if (!f.too_costly.empty()) return f.too_costly;
  if (f.nodes == 0) return "no node has an agent yet";
  if (!f.refused.empty()) return f.refused;
  if (f.violating_nodes == 0) return f.unmeasured.empty() ? "no node violates the policy" : f.unmeasured;
  return fmt::format("{} of {} nodes {} the policy", f.violating_nodes, f.nodes,
                     f.violating_nodes == 1 ? "violates" : "violate");
}

json::object without_age(json::object status) {
  status.erase("oldestData");
  return status;
}

}  // namespace

policy_facts facts_of(const policy::policy_key& key, std::string_view object_name, std::int64_t generation,
                      const policy::view& nodes, const std::vector<policy::problem>& problems,
                      const std::vector<policy::condition>& conditions, instant now) {
  policy_facts out;
  out.generation = generation;
  for (const policy::problem& p : problems) {
    if (p.file != object_name || p.level != policy::severity::error) continue;
    if (++out.errors == 1) out.first_error = p.field.empty() ? p.message : p.field + ": " + p.message;
  }
  for (const policy::condition& c : conditions) {
    if (c.policy != key || !c.active) continue;
    switch (c.what) {
      case policy::condition_kind::conflict: add(out.conflict, c.message); break;
      case policy::condition_kind::not_allowed: add(out.not_allowed, c.message); break;
      case policy::condition_kind::held: add(out.held, c.message); break;
      case policy::condition_kind::frozen: add(out.frozen, c.message); break;
      case policy::condition_kind::metric_missing: add(out.unmeasured, c.message); break;
      case policy::condition_kind::too_costly: add(out.too_costly, c.message); break;
    }
  }
  const auto at = nodes.policies().find(key);
  if (at == nodes.policies().end()) {
    out.nodes = nodes.nodes().size();
    return out;
  }
  out.in_force = true;
  out.dry_run = at->second->how == policy::mode::dry_run;
  if (out.dry_run) out.would_label = would_label(nodes, key.name);
  for (const policy::published_strategy& s : at->second->strategies)
    out.strategies.push_back(policy::to_string(s.kind));
  count_nodes(out, *at->second, nodes, now);
  return out;
}

void add_foreign(policy_facts& to, const std::string& policy,
                 const std::map<std::string, std::set<std::string>>& foreign) {
  for (const auto& [key, nodes] : foreign) {
    if (policy::policy_of(key) != policy) continue;
    add(to.conflict,
        fmt::format("{} {} the label {} already, which is not ours and is left alone: remove it "
                    "there or rename the policy",
                    nodes.size() == 1 ? *nodes.begin()
                                      : fmt::format("{} nodes ({}, …)", nodes.size(), *nodes.begin()),
                    nodes.size() == 1 ? "has" : "have", key));
  }
}

json::object status_of(const policy_facts& f, const json::object& present, wall clock) {
  json::object out;
  const bool known = f.in_force && f.nodes > 0 && (f.violating_nodes > 0 || f.unmeasured.empty());
  out["compliance"] = !known ? "Unknown" : f.violating_nodes > 0 ? "Violated" : "Compliant";
  out["message"] = clip(sentence_of(f), most_text);
  out["observedGeneration"] = f.generation;
  out["strategies"] = fmt::format("{}", fmt::join(f.strategies, ","));
  out["violatingNodes"] = static_cast<std::int64_t>(f.violating_nodes);
  json::array names;
  for (const std::string& name : f.violating) names.emplace_back(name);
  out["violating"] = std::move(names);
  if (f.oldest_age)
    out["oldestData"] = rfc3339(clock - std::chrono::duration_cast<wall::duration>(*f.oldest_age));
  out["conditions"] = conditions_of(f, present, clock);
  return out;
}

std::string_view condition_in(const json::object& status, std::string_view type) {
  const json::object* c = kube::condition_in(status, type);
  return c == nullptr ? std::string_view() : text_in(*c, "status");
}

std::vector<news> news_of(const json::object& wanted, const json::object& present) {
  std::vector<news> out;
  const auto changed = [&](std::string_view type) {
    return condition_in(wanted, type) != condition_in(present, type);
  };
  const auto message = [&](std::string_view type) {
    return std::string(text_in(*kube::condition_in(wanted, type), "message"));
  };
  const std::string_view ready = condition_in(wanted, "Ready");
  if (changed("Ready") && ready == "True")
    out.push_back({false, "PolicyAccepted", "Read", "the policy is in force"});
  if (changed("Ready") && ready == "False") out.push_back({true, "PolicyInvalid", "Read", message("Ready")});
  for (const char* type : {"Conflict", "TooCostly", "Held"}) {
    if (changed(type) && condition_in(wanted, type) == "True")
      out.push_back({true, type, "Label", message(type)});
  }
  return out;
}

urgency difference(const json::object& wanted, const json::object& present) {
  if (without_age(wanted) != without_age(present)) return urgency::change;
  const auto now = kube::parse_rfc3339(text_in(wanted, "oldestData"));
  const auto then = kube::parse_rfc3339(text_in(present, "oldestData"));
  if (now.has_value() != then.has_value()) return urgency::refresh;
  return now && *now - *then >= age_refresh ? urgency::refresh : urgency::none;
}

std::string patch_of(const json::object& wanted, const json::object& present) {
  json::object out = wanted;
  for (const auto& pair : present) {
    if (!wanted.contains(pair.key())) out[pair.key()] = nullptr;
  }
  return json::serialize(out);
}

}  // namespace binnacle::enforce
