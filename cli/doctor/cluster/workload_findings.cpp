#include "cli/doctor/cluster/workload_findings.hpp"

#include "cli/doctor/cluster/cluster_findings.hpp"
#include "cli/views/units.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::cli::doctor {
namespace {

/// The members that DaemonSets and Deployments have in common; a workload that is being deleted is left out.
std::vector<std::pair<short_workload, const json::value*>> named(const json::value& all,
                                                                 std::string_view kind) {
  std::vector<std::pair<short_workload, const json::value*>> out;
  for (const auto& one : list(all, "items")) {
    const json::value meta = object(one, "metadata");
    if (member(meta, "deletionTimestamp") != nullptr) continue;
    short_workload w;
    w.kind = kind;
    w.name_space = text(meta, "namespace");
    w.name = text(meta, "name");
    w.uid = text(meta, "uid");
    w.component = text(object(meta, "labels"), "app.kubernetes.io/component");
    out.emplace_back(std::move(w), &one);
  }
  return out;
}

std::string remedy_of(const short_workload& w) {
  if (contains(w.message, "violates PodSecurity")) {
    return fmt::format(
        "kubectl label --overwrite namespace {} pod-security.kubernetes.io/enforce={} "
        "(charts/binnacle/README.md, Namespaces)",
        w.name_space, w.component == "agent" ? "privileged" : "restricted");
  }
  if (contains(w.message, "exceeded quota"))
    return fmt::format("raise the ResourceQuota of namespace {}, or lower {}.resources", w.name_space,
                       w.component);
  if (contains(w.message, "no PriorityClass"))
    return "priorityClass.name must be a class that the cluster has; or set priorityClass.create: true";
  if (contains(w.message, "serviceaccount") && contains(w.message, "not found"))
    return "helm upgrade makes the service account again";
  return fmt::format("kubectl describe {} -n {} {}", w.kind, w.name_space, w.name);
}

}  // namespace

std::vector<short_workload> short_daemon_sets(const json::value& all) {
  std::vector<short_workload> out;
  for (auto& [w, given] : named(all, "DaemonSet")) {
    const json::value status = object(*given, "status");
    w.wanted = integer(status, "desiredNumberScheduled");
    w.made = integer(status, "currentNumberScheduled");
    if (w.wanted == 0 || w.made < w.wanted) out.push_back(std::move(w));
  }
  return out;
}

std::vector<short_workload> short_deployments(const json::value& all) {
  std::vector<short_workload> out;
  for (auto& [w, given] : named(all, "Deployment")) {
    w.wanted = integer(object(*given, "spec"), "replicas");
    w.made = integer(object(*given, "status"), "replicas");
    // During a rollout the old pods may still be enough, although none of the new ones can be made.
    const json::value failed = condition(*given, "ReplicaFailure");
    const bool fails = text(failed, "status") == "True";
    if (fails) {
      w.reason = text(failed, "reason");
      w.message = text(failed, "message");
    }
    if (fails || w.made < w.wanted) out.push_back(std::move(w));
  }
  return out;
}

finding finding_of_short_workload(const short_workload& w) {
  const std::string who = fmt::format("{} {}/{}", w.kind, w.name_space, w.name);
  if (w.wanted == 0)
    return warning(fmt::format("{} wants no pod: no node has the labels that it asks for", who),
                   fmt::format("see {}.nodeSelector", w.component));
  const std::string has_made = fmt::format("{} has {} of {}", who, w.made, counted(w.wanted, "pod"));
  if (w.message.empty())
    return warning(has_made,
                   fmt::format("if it stays so: kubectl describe {} -n {} {}", w.kind, w.name_space, w.name));
  return failure(fmt::format("{}: {}: {}", has_made, w.reason, w.message), remedy_of(w));
}

findings left_over_containers(const json::value& all) {
  findings out;
  for (const auto& [w, given] : named(all, "DaemonSet")) {
    const auto written = text(object(object(*given, "metadata"), "annotations"), "binnacle/containers");
    if (written.empty()) continue;
    const auto known = fmt::format(",{},", written);
    const json::value pod = object(object(object(*given, "spec"), "template"), "spec");
    for (const auto& one : list(pod, "containers")) {
      const auto name = text(one, "name");
      if (contains(known, fmt::format(",{},", name))) continue;
      const json::value security = object(one, "securityContext");
      const json::value* privileged = member(security, "privileged");
      const bool is_privileged = privileged != nullptr && *privileged == true;
      out.push_back(warning(
          fmt::format("DaemonSet {}/{} has the {}container {}, which its release does not name: an upgrade "
                      "that failed may have left it",
                      w.name_space, w.name, is_privileged ? "privileged " : "", name),
          fmt::format(R"(kubectl patch daemonset {} -n {} -p '{{"spec":{{"template":{{"spec":{{"containers":)"
                      R"([{{"name":"{}","$patch":"delete"}}]}}}}}}}}')",
                      w.name, w.name_space, name)));
    }
  }
  return out;
}

}  // namespace binnacle::cli::doctor
