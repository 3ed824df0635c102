// Finds pods that require a node without a label that policies give.
#include "cli/migrate/migration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace binnacle::cli::migrate {
namespace {

/// The strategy labeling puts this before its keys.
constexpr std::string_view labeling_prefix = "telemetry.aware.scheduling.";

/// Whether an affinity expression asks about a policy's label. deschedule gives POLICY=violating, and no
/// other program uses that value. labeling's labels are known by their prefix; they also come and go, so any
/// operator counts.
bool asks_for_policys_label(const YAML::Node& expression) {
  if (text_of(expression, "key").starts_with(labeling_prefix)) return true;
  if (text_of(expression, "operator") != "NotIn") return false;
  const YAML::Node values = below(expression, "values");
  return values.IsSequence() && std::any_of(values.begin(), values.end(), [](const YAML::Node& v) {
           return v.IsScalar() && v.Scalar() == "violating";
         });
}

/// The keys of these expressions, each once, in order.
std::vector<std::string> required_keys(const manifest& m) {
  std::vector<std::string> out;
  const YAML::Node terms = below(pod_template_of(m),
                                 "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                                 "nodeSelectorTerms");
  if (!terms.IsSequence()) return out;
  for (const auto& term : terms) {
    const YAML::Node expressions = below(term, "matchExpressions");
    if (!expressions.IsSequence()) continue;
    for (const auto& e : expressions) {
      const std::string key = text_of(e, "key");
      if (asks_for_policys_label(e) && std::ranges::find(out, key) == out.end()) out.push_back(key);
    }
  }
  return out;
}

/// Whether the files also hold the object that made this one (a Deployment makes a ReplicaSet, which makes a
/// Pod). The change then belongs into the owner, not here.
bool owner_is_given(const manifest& m, std::span<const manifest> installed) {
  const YAML::Node owners = below(m.body, "metadata.ownerReferences");
  if (!owners.IsSequence()) return false;
  return std::any_of(owners.begin(), owners.end(), [&](const YAML::Node& owner) {
    return std::ranges::any_of(installed, [&](const manifest& other) {
      return other.kind == text_of(owner, "kind") && other.name == text_of(owner, "name") &&
             other.name_space == m.name_space;
    });
  });
}

}  // namespace

bool migrate_affinity(const manifest& m, std::span<const manifest> installed, migration& out) {
  const auto keys = required_keys(m);
  if (keys.empty()) return false;
  if (owner_is_given(m, installed)) return true;
  for (const std::string& key : keys) {
    out.yours(fmt::format("{}, required node affinity by {}", m.title(), key),
              "make it preferred (preferredDuringSchedulingIgnoredDuringExecution): a kubelet that restarts "
              "on a labelled node fails all pods that require a node without the label, past disruption "
              "budgets. The descheduler moves pods that prefer one, too (the chart's README, \"Moving "
              "pods\")");
  }
  return true;
}

}  // namespace binnacle::cli::migrate
