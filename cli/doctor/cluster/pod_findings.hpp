#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/json.hpp"

#include <span>
#include <string>
#include <vector>

/// What an API server says of the chart's pods. Pure.
namespace binnacle::cli::doctor {

/// A pod that does not run as it should, and why in Kubernetes' words.
struct stuck_pod {
  std::string name_space, name, uid;
  std::string node;       ///< empty: none was found for it
  std::string component;  ///< agent, aggregator, scheduler, descheduler
  std::string container;  ///< empty: the whole pod
  std::string reason;     ///< "ImagePullBackOff", "OOMKilled", "Unschedulable"; empty: not known yet
  std::string message;
  bool is_ready = false;   ///< it has recovered from `reason`
  bool has_ended = false;  ///< for good: its controller makes another
};

/// Those of a PodList that wait, fail, are not ready, or were killed for their memory. Left out: pods that
/// are being deleted, that have done their work, or that "helm test" made.
std::vector<stuck_pod> stuck_pods(const json::value& pods);

/// Takes reason and message from the newest warning among the events of an object (an EventList), where its
/// status has no message: a volume that cannot be mounted is told by an event alone.
void explain_by_events(std::string& reason, std::string& message, const json::value& events);

/// Pods of one component with the same reason: a finding for all of them, with a remedy for the first.
std::vector<std::vector<stuck_pod>> by_reason(std::vector<stuck_pod> all);
finding finding_of_stuck_pods(std::span<const stuck_pod> alike);

}  // namespace binnacle::cli::doctor
