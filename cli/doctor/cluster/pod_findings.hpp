#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <span>
#include <string>
#include <vector>

/// Judges the chart's pods by what the API server says of them. Pure.
namespace binnacle::cli::doctor {

/// A pod that does not run as it should, and the reason in Kubernetes' words.
struct stuck_pod {
  std::string name_space, name, uid;
  std::string node;       ///< empty: the pod is on no node yet
  std::string component;  ///< agent, aggregator, scheduler, descheduler
  std::string container;  ///< empty: the whole pod
  std::string reason;     ///< "ImagePullBackOff", "OOMKilled", "Unschedulable"; empty: not known yet
  std::string message;
  bool is_ready = false;   ///< it runs again, in spite of `reason`
  bool has_ended = false;  ///< for good: its controller makes a new pod
};

/// The pods of a PodList that wait, fail, are not ready, or were killed for their memory. Pods that are being
/// deleted, have done their work, or belong to "helm test" are left out.
std::vector<stuck_pod> stuck_pods(const json::value& pods);

/// Takes reason and message from the newest warning in an EventList of the object, if the object's status has
/// no message. For example, only an event says that a volume cannot be mounted.
void explain_by_events(std::string& reason, std::string& message, const json::value& events);

/// Groups pods by component and reason: each group gives one finding, with the remedy of its first pod.
std::vector<std::vector<stuck_pod>> by_reason(std::vector<stuck_pod> all);
finding finding_of_stuck_pods(std::span<const stuck_pod> alike);

}  // namespace binnacle::cli::doctor
