// Migrates WAO. This asks its parts, and makes the policy for the pods of its schedulers.
#include "cli/migrate/wao.hpp"

#include "aggregator/model_servers/node_config.hpp"
#include "cli/views/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

namespace binnacle::cli::migrate {

bool has_wao_group(std::string_view text) {
  return std::ranges::any_of(model_servers::node_config_groups,
                             [text](std::string_view g) { return text.find(g) != text.npos; });
}

std::string name_space_of(const manifest& m) { return m.name_space.empty() ? "default" : m.name_space; }

bool migrate_wao(const manifest& m, migration& out) {
  return migrate_wao_node_config(m, out) || migrate_wao_template(m, out) || migrate_wao_node(m, out) ||
         migrate_wao_scheduler(m, out) || migrate_wao_workload(m, out);
}

void finish_wao(migration& out) {
  const auto& w = out.wao;
  if (w.objects > 0)
    out.works(counted(static_cast<std::int64_t>(w.objects), "NodeConfig or NodeConfigTemplate object"),
              "the aggregator reads such objects as they are; WAO's controller need not run");
  if (w.nodes > 0)
    out.works(
        "labels of " + counted(static_cast<std::int64_t>(w.nodes), "node"),
        "tensorflow/…, ambient/… and cpu1/… are read as they are, and the models asked by gRPC as before");
  if (w.objects + w.nodes == 0 && w.schedulers.empty()) return;
  const std::set<std::string> everywhere =
      w.namespaces.empty() ? std::set<std::string>{"default"} : w.namespaces;
  for (const std::string& name_space : everywhere) {
    YAML::Node policy(YAML::NodeType::Map);
    policy["apiVersion"] = "telemetry.intel.com/v1alpha1";
    policy["kind"] = "TASPolicy";
    policy["metadata"]["name"] = std::string(wao_policy_name);
    policy["metadata"]["namespace"] = name_space;
    policy["spec"]["strategies"]["minimizepower"] = YAML::Clone(w.strategy);
    out.objects.push_back(policy);
  }
  if (w.objects > 0 && !w.strategy["cpuFormat"]) {
    out.yours(fmt::format("TASPolicy {}, cpuFormat", wao_policy_name),
              w.schedulers.empty()
                  ? "is Percent, Binnacle's default, because no file holds the configuration of WAO's "
                    "scheduler, and no workload is named for the same reason: give the ConfigMap, too. "
                    "Percent is WAO's default, too; if its configuration says Raw, write cpuFormat: Raw"
                  : "is Percent, Binnacle's default, because no profile has WAO's second version: if the "
                    "models of the NodeConfigs take cores, write cpuFormat: Raw");
  }
  out.yours(
      fmt::format("TASPolicy {}", wao_policy_name),
      fmt::format("apply the policy below in each namespace of pods that it is to place (here: {}). Its mode "
                  "may be DryRun at first",
                  fmt::join(everywhere, ", ")));
}

}  // namespace binnacle::cli::migrate
