#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What an API server says of the chart's DaemonSets and Deployments: pods that were never made are in no
/// list of pods. Pure.
namespace binnacle::cli::doctor {

/// One that has fewer pods than it wants, or wants none at all, and why in Kubernetes' words.
struct short_workload {
  std::string_view kind;  ///< "DaemonSet", "Deployment"
  std::string name_space, name, uid;
  std::string component;  ///< agent, aggregator, scheduler, descheduler
  std::int64_t wanted = 0, made = 0;
  std::string reason, message;  ///< empty: not known yet
};

/// Those of a DaemonSetList, or of a DeploymentList. Left out: what is being deleted, and Deployments of 0.
std::vector<short_workload> short_daemon_sets(const json::value& all);
std::vector<short_workload> short_deployments(const json::value& all);

finding finding_of_short_workload(const short_workload& w);

/// A warning for each container of a DaemonSetList that is not among those that the chart wrote, by its
/// annotation binnacle/containers. A failed upgrade may have brought the container: helm leaves what the last
/// good release did not name. Left out: DaemonSets without the annotation (older charts).
findings left_over_containers(const json::value& all);

}  // namespace binnacle::cli::doctor
