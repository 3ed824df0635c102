// TASPolicy objects apply unchanged. This checks whether some source brings their metrics.
#include "cli/migrate/migration.hpp"
#include "common/metrics/families.hpp"

#include <fmt/format.h>

#include <set>

namespace binnacle::cli::migrate {
namespace {

std::set<std::string> metrics_of(const manifest& m) {
  std::set<std::string> names;
  const auto strategies = below(m.body, "spec.strategies");
  if (!strategies.IsMap()) return names;
  for (const auto& strategy : strategies) {
    const auto rules = below(strategy.second, "rules");
    if (!rules.IsSequence()) continue;
    for (const auto& rule : rules) {
      if (auto name = text_of(rule, "metricname"); !name.empty()) names.insert(std::move(name));
    }
  }
  return names;
}

}  // namespace

bool migrate_policy(const manifest& m, migration& out) {
  if (m.kind == "CustomResourceDefinition" && m.name.starts_with("taspolicies.")) {
    out.works(m.title(),
              "the chart's has the same group, version and names and more fields: apply "
              "charts/binnacle/crds/taspolicy.yaml over it, no policy is lost");
    return true;
  }
  if (m.kind != "TASPolicy") return false;
  const auto metrics = metrics_of(m);
  if (metrics.empty()) out.yours(m.title(), "has no rule with a metricname: see `binnacle policy lint`");
  for (const auto& name : metrics) {
    const auto found = metrics::resolve(name);
    const std::string subject = m.title() + ", " + name;
    if (found.is_alias) {
      out.works(subject, fmt::format("built in, from {}", found.family));
    } else if (metrics::find(found.family) != nullptr) {
      out.works(subject, "built in");
    } else {
      out.yours(subject, fmt::format("is not a metric that Binnacle measures: bring it as node_{0} or {0} in "
                                     "a *.prom file (agent.textfileDirectory) or by an exporter on the node",
                                     name.starts_with("node_") ? name.substr(5) : name));
    }
  }
  return true;
}

}  // namespace binnacle::cli::migrate
