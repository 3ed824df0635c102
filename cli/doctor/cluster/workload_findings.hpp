#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Judges the chart's DaemonSets and Deployments: a list of pods does not show pods that were never made.
/// Pure.
namespace binnacle::cli::doctor {

/// A workload that has fewer pods than it wants, or wants none at all, and the reason in Kubernetes' words.
struct short_workload {
  std::string_view kind;  ///< "DaemonSet", "Deployment"
  std::string name_space, name, uid;
  std::string component;  ///< agent, aggregator, scheduler, descheduler
  std::int64_t wanted = 0, made = 0;
  std::string reason, message;  ///< empty: not known yet
};

/// The short workloads of a DaemonSetList or a DeploymentList. Workloads that are being deleted, and
/// Deployments with 0 replicas, are left out.
std::vector<short_workload> short_daemon_sets(const json::value& all);
std::vector<short_workload> short_deployments(const json::value& all);

finding finding_of_short_workload(const short_workload& w);

/// A warning for each container of a DaemonSetList that the chart did not write, by its annotation
/// binnacle/containers. A failed upgrade may have brought the container: helm does not remove what the last
/// good release did not name. DaemonSets without the annotation (from older charts) are left out.
findings left_over_containers(const json::value& all);

}  // namespace binnacle::cli::doctor
