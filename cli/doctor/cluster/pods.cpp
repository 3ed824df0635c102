#include "cli/doctor/checks.hpp"
#include "cli/doctor/cluster/kube_call.hpp"
#include "cli/doctor/cluster/pod_findings.hpp"
#include "cli/doctor/cluster/workload_findings.hpp"
#include "cli/views/units.hpp"
#include "common/http/target.hpp"

#include <fmt/format.h>

namespace binnacle::cli::doctor {
namespace {

constexpr int page_pods = 500, most_pages = 40;  // 20,000 pods
constexpr std::size_t most_reasons = 8;

/// If an object's status gives neither reason nor message, takes them from its events.
void ask_events(const kube::access& to, const place& p, const std::string& name_space, const std::string& uid,
                std::string& reason, std::string& message) {
  const auto events = kube_read(
      to,
      fmt::format("/api/v1/namespaces/{}/events?fieldSelector={}&limit=100", http::query_escaped(name_space),
                  http::query_escaped("involvedObject.uid=" + uid)),
      "its events", p);
  if (!events.instead) explain_by_events(reason, message, events.object);
}

/// Findings about DaemonSets and Deployments whose pods were not made, or that have a container too many;
/// empty if all is as the chart wants it.
findings wrong_workloads(const kube::access& to, const place& p, const std::string& ours) {
  const auto listed = [&](std::string_view kinds) {
    return kube_read(to, fmt::format("/apis/apps/v1/{}?labelSelector={}", kinds, ours),
                     fmt::format("the chart's {}", kinds), p);
  };
  const auto sets = listed("daemonsets"), deployments = listed("deployments");
  if (sets.instead) return {*sets.instead};
  if (deployments.instead) return {*deployments.instead};
  auto all = short_daemon_sets(sets.object);
  for (short_workload& w : short_deployments(deployments.object)) all.push_back(std::move(w));
  findings out = left_over_containers(sets.object);
  for (short_workload& w : all) {
    if (w.wanted > 0 && w.message.empty()) ask_events(to, p, w.name_space, w.uid, w.reason, w.message);
    out.push_back(finding_of_short_workload(w));
  }
  return out;
}

}  // namespace

findings check_pods(const place& p) {
  const auto access = kube_access(p);
  if (!access || access->has_error()) return {unchecked("no cluster is asked; see the check kubernetes")};
  const kube::access& to = **access;
  const std::string ours = http::query_escaped("app.kubernetes.io/part-of=binnacle");
  std::vector<stuck_pod> stuck;
  std::size_t all = 0;
  std::string next;
  for (int page = 0; page < most_pages; ++page) {
    const auto got = kube_read(to,
                               fmt::format("/api/v1/pods?labelSelector={}&limit={}&continue={}", ours,
                                           page_pods, http::query_escaped(next)),
                               "the chart's pods", p);
    if (got.instead) return {*got.instead};
    all += list(got.object, "items").size();
    for (stuck_pod& one : stuck_pods(got.object)) stuck.push_back(std::move(one));
    next = text(object(got.object, "metadata"), "continue");
    if (next.empty()) break;
  }
  findings out = wrong_workloads(to, p, ours);
  if (all == 0 && out.empty())
    return {unchecked("the cluster has no pods of the chart (app.kubernetes.io/part-of=binnacle)")};
  if (all > 0 && stuck.empty())
    out.push_back(
        ok(fmt::format("{} of the chart: all are ready", counted(static_cast<std::int64_t>(all), "pod"))));

  for (auto& alike : by_reason(std::move(stuck))) {
    if (out.size() >= most_reasons) {
      out.push_back(warning("more pods of the chart are not ready", "mend these first, then ask again"));
      break;
    }
    stuck_pod& first = alike.front();
    if (first.message.empty() && !first.is_ready)
      ask_events(to, p, first.name_space, first.uid, first.reason, first.message);
    out.push_back(finding_of_stuck_pods(alike));
  }
  return out;
}

}  // namespace binnacle::cli::doctor
