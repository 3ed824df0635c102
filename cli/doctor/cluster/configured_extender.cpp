#include "cli/doctor/cluster/configured_extender.hpp"

#include "cli/extender_entry.hpp"
#include "common/text/endpoint.hpp"
#include "common/text/load_yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>

namespace binnacle::cli::doctor {
namespace {

std::string scalar(const YAML::Node& map, const char* key) {
  const YAML::Node value = map[key];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}
bool yes(const YAML::Node& map, const char* key) { return scalar(map, key) == "true"; }

bool manages_telemetry(const YAML::Node& extender) { return telemetry_resource(extender).IsDefined(); }

/// Checks which pods make kube-scheduler ask us, and whether a node can take them.
findings findings_of_resource(const YAML::Node& extender, const std::string& name) {
  const YAML::Node resource = telemetry_resource(extender);
  if (!resource.IsDefined()) {
    return {warning(
        fmt::format("{} manages no resource telemetry/scheduling: every pod of the cluster asks", name),
        "add managedResources: [{name: telemetry/scheduling, ignoredByScheduler: true}]")};
  }
  if (!yes(resource, "ignoredByScheduler")) {
    return {failure(
        fmt::format("{} manages telemetry/scheduling without ignoredByScheduler: true: no node has any, "
                    "so no pod that asks for it fits",
                    name),
        "add ignoredByScheduler: true")};
  }
  return {ok(fmt::format("{} manages telemetry/scheduling: pods with that limit ask Binnacle", name))};
}

/// Checks whether the weight is large enough: the node that we prefer should win.
findings findings_of_weight(const YAML::Node& extender, const std::string& name) {
  if (scalar(extender, "prioritizeVerb").empty()) return {};
  const std::string weight = scalar(extender, "weight");
  if (weight.empty()) {
    return {failure(fmt::format("{} has a prioritizeVerb without a weight: kube-scheduler refuses it", name),
                    "add weight: 100")};
  }
  const long n = std::strtol(weight.c_str(), nullptr, 10);
  if (n * 10 > 500) return {};
  return {warning(
      fmt::format(
          "{} has weight {}. kube-scheduler's own plug-ins add up to 500 points, and one point of ours "
          "counts only {}: so the node that we prefer may lose",
          name, weight, n * 10),
      "weight: 100, unless that is meant (aggregator/extender/README.md has the arithmetic)")};
}

result<configured_extender> view_of(const YAML::Node& extender, const std::string& name) {
  const auto wrong = [&](std::string what) {
    return error{errc::invalid_input, fmt::format("{}: {}", name, std::move(what))};
  };
  const std::string url = scalar(extender, "urlPrefix");
  if (url.empty()) return wrong("the extender has no urlPrefix");
  configured_extender out;
  if (const auto rest = split_url(url).rest; rest.starts_with('/')) out.path = rest;
  auto at = parse_server_url(std::string_view(url).substr(0, url.size() - out.path.size()), 9001);
  while (out.path.ends_with('/')) out.path.pop_back();
  if (at.has_error()) return wrong(at.error().message);
  out.server = *std::move(at);
  if (yes(extender, "enableHTTPS")) out.server.secure = true;  // as kube-scheduler has it
  const std::string verb = scalar(extender, "filterVerb");
  if (verb.empty()) return wrong("the extender has no filterVerb: write scheduler/filter");
  out.path += '/' + verb;
  if (const auto t = scalar(extender, "httpTimeout"); !t.empty() && !parse_duration(t, out.timeout))
    return wrong(fmt::format("httpTimeout {} is not a duration such as 500ms", t));
  out.by_names = yes(extender, "nodeCacheCapable");
  if (const YAML::Node tls = extender["tlsConfig"]; tls && tls.IsMap()) {
    out.pem = {scalar(tls, "certFile"), scalar(tls, "keyFile"), scalar(tls, "caFile")};
    out.server_name = scalar(tls, "serverName");
    if (yes(tls, "insecure")) {
      out.remarks.push_back(
          failure(fmt::format("{} has tlsConfig.insecure: anybody can answer for the aggregator", name),
                  "name the CA in tlsConfig.caFile instead"));
    }
  }
  if (!out.by_names) {
    out.remarks.push_back(
        warning(fmt::format("{} has no nodeCacheCapable: true: whole Node objects are sent", name),
                "set it: names are about a hundred times less to send"));
  }
  if (!yes(extender, "ignorable")) {
    out.remarks.push_back(
        warning(fmt::format("{} has no ignorable: true: without the aggregator no pod is placed", name),
                "set it, unless that is meant"));
  }
  if (scalar(extender, "preemptVerb").empty()) {
    out.remarks.push_back(warning(
        fmt::format("{} has no preemptVerb: for a pod of high priority kube-scheduler may evict others "
                    "at a node that the pod's policy then refuses",
                    name),
        "update the aggregators to this command's version, then add preemptVerb: scheduler/preempt"));
  }
  for (const findings& more : {findings_of_weight(extender, name), findings_of_resource(extender, name)})
    out.remarks.insert(out.remarks.end(), more.begin(), more.end());
  return out;
}

}  // namespace

result<configured_extender> parse_scheduler_config(const std::string& yaml, const std::string& name) {
  try {
    const YAML::Node top = load_yaml(yaml);
    const YAML::Node extenders = top.IsMap() ? top["extenders"] : YAML::Node();
    if (!extenders || !extenders.IsSequence() || extenders.size() == 0) {
      return error{errc::invalid_input,
                   fmt::format("{} names no extenders: kube-scheduler asks nobody", name)};
    }
    for (std::size_t i = 0; i < extenders.size(); ++i) {
      if (manages_telemetry(extenders[i])) return view_of(extenders[i], name);
    }
    if (extenders.size() == 1) return view_of(extenders[0], name);
    return error{errc::invalid_input,
                 fmt::format("{} names {} extenders, and none of them manages telemetry/scheduling", name,
                             extenders.size())};
  } catch (const YAML::Exception& e) {
    return error{errc::invalid_input, fmt::format("{}:{}: {}", name, e.mark.line + 1, e.msg)};
  }
}

}  // namespace binnacle::cli::doctor
