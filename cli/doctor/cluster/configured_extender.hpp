#pragma once

#include "cli/connection.hpp"
#include "cli/doctor/finding.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

#include <string>

namespace binnacle::cli::doctor {

/// How kube-scheduler reaches an extender, as its KubeSchedulerConfiguration says.
struct configured_extender {
  server_url server;
  std::string path;  ///< path of its URL and the filter verb together: "/scheduler/filter"
  tls::files pem;
  std::string server_name;
  duration timeout = std::chrono::seconds(5);  ///< kube-scheduler's default
  bool by_names = false;                       ///< nodeCacheCapable
  findings remarks;                            ///< what is wrong with the entry, or works less well
};

/// Finds Binnacle's extender in a KubeSchedulerConfiguration: the one that manages telemetry/scheduling, or
/// the only one. Errors: invalid_input with what is missing. Source:
/// kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1, Extender.
result<configured_extender> parse_scheduler_config(const std::string& yaml, const std::string& name);

}  // namespace binnacle::cli::doctor
