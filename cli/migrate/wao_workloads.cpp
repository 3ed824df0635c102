// Migrates WAO's own programs, and the pods that its scheduler places.
#include "aggregator/spread/rate.hpp"
#include "cli/migrate/wao.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::migrate {
namespace {

std::string spread_rate(const YAML::Node& object) {
  for (const std::string_view name : spread::annotations) {
    std::string rate = entry_of(object, "metadata.annotations", std::string(name));
    if (!rate.empty()) return rate;
  }
  return {};
}

/// What the pods of one of WAO's schedulers need from now on.
std::string needs_of(const std::string& scheduler, const migration& m) {
  std::vector<std::string> needs;
  if (m.wao.schedulers.contains(scheduler)) {
    const auto other = m.wao.other_formats.find(scheduler);
    const auto policy =
        other == m.wao.other_formats.end()
            ? std::string(wao_policy_name)
            : fmt::format("NAME, of a policy as {} but with cpuFormat: {}", wao_policy_name, other->second);
    needs.push_back("the label telemetry-policy: " + policy);
  }
  needs.emplace_back("in one container the limit telemetry/scheduling: \"0\"");
  if (const auto charts = name_of_the_charts(m); scheduler != charts)
    needs.push_back("schedulerName: " + charts);
  return fmt::format("give its pods {}", fmt::join(needs, ", and "));
}

bool take_workload(const manifest& m, migration& out) {
  const YAML::Node pods = pod_template_of(m);
  const std::string scheduler = text_of(pods, "spec.schedulerName");
  const bool by_watts = out.wao.schedulers.contains(scheduler);
  if (scheduler.empty() || (!by_watts && !out.wao.spreaders.contains(scheduler))) return false;
  if (by_watts && !out.wao.other_formats.contains(scheduler)) out.wao.namespaces.insert(name_space_of(m));
  out.yours(m.title(), needs_of(scheduler, out));
  const bool on_pods = !spread_rate(pods).empty();
  for (const YAML::Node& object : {m.body, pods}) {
    const std::string rate = spread_rate(object);
    if (rate.empty()) continue;
    const bool is_spread = m.kind == "Deployment" || m.kind == "ReplicaSet";
    if (is_spread && !spread::parse_rate(rate))
      out.yours(m.title() + ", podspread-rate " + rate,
                "is no number from 0 to 1, so nothing is spread by it: write the share, as 0.6");
    else if (is_spread)
      out.works(m.title() + ", podspread-rate " + rate,
                on_pods ? "the extender's filter spreads the first pods by it"
                        : "the extender's filter spreads the first pods by it. WAO did not: it wanted the "
                          "annotation on the pods, too");
    else
      out.yours(
          m.title() + ", podspread-rate " + rate,
          "does nothing, as with WAO: only pods of a Deployment or ReplicaSet are spread. Give its pods "
          "topologySpreadConstraints");
    break;
  }
  return true;
}

bool take_own(const manifest& m, migration& out) {
  if (m.kind == "CustomResourceDefinition" && has_wao_group(m.name)) {
    out.works(m.title(), "its objects are read as they are; keep it as long as they are to count");
    return true;
  }
  const std::string images = images_of(m);
  const bool workload = m.kind == "Deployment" || m.kind == "DaemonSet" || m.kind == "StatefulSet";
  if (workload && images.find("metrics-server") != images.npos) {
    out.works(m.title(), "Binnacle does not need it; `kubectl top` and autoscalers by CPU do");
    return true;
  }
  if (workload && images.find("tensorflow/serving") != images.npos) {
    out.works(m.title(), "its models are asked as before, by gRPC");
    return true;
  }
  if (!m.name.starts_with("wao-") && images.find("waok8s") == images.npos) return false;
  const bool is_asked = std::ranges::any_of(
      std::array{"mlmm", "wao-pred", "mlserver", "triton"},
      [&images](std::string_view program) { return images.find(program) != images.npos; });
  if (workload && is_asked) {
    out.works(m.title(), "is asked as before, if its server is in aggregator.modelServers: keep it");
    return true;
  }
  if (m.kind == "Namespace") {
    out.works(m.title(), "keep it while NodeConfig objects, their Secrets or model servers are in it");
  } else if (m.kind == "Secret" || m.kind == "Service") {
    out.yours(m.title(),
              fmt::format("keep it if {}; else delete it with WAO",
                          m.kind == "Secret" ? "a NodeConfig names it"
                                             : "it leads to a model server or an endpoint provider"));
  } else if (!workload) {
    out.dropped(m.title(), "belongs to WAO: delete it with WAO");
  } else if (m.name.find("loadbalancer") != m.name.npos) {
    out.yours(m.title(), "has no counterpart: kube-proxy shares connections out evenly; it may stay");
  } else {
    out.yours(
        m.title(),
        "is not needed any more: scale it to 0 before the chart is installed (a scheduler answers to the "
        "same name as the chart's), and delete it when Binnacle places the pods");
  }
  return true;
}

}  // namespace

bool migrate_wao_workload(const manifest& m, migration& out) {
  return take_workload(m, out) || take_own(m, out);
}

}  // namespace binnacle::cli::migrate
