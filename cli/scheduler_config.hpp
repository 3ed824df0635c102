#pragma once

#include "cli/commands.hpp"
#include "cli/doctor/finding.hpp"
#include "common/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace binnacle::cli {

/// kube-scheduler's side of the extender.
struct scheduler_wiring {
  std::string kubernetes = "1.30";  ///< version of kube-scheduler: "1.34", "v1.34.2"
  std::string name = "binnacle-scheduler";
  std::string url = "https://binnacle.binnacle.svc:9001";
  // Paths as the scheduler sees them; the chart mounts them there.
  std::string ca = "/etc/binnacle/pki/ca.crt";
  std::string certificate = "/etc/binnacle/pki/tls.crt";
  std::string key = "/etc/binnacle/pki/tls.key";
  std::string timeout = "500ms";
  /// One point of a score against the sum of what the scheduler's own plug-ins add unasked: see
  /// aggregator/extender/README.md.
  int weight = 100;
  /// The share of the nodes that kube-scheduler looks at for a pod, in percent; 0: its own choice, which is a
  /// part of them above 100 nodes. Nothing: 100 for a second scheduler; patching leaves what is there.
  std::optional<int> percent_of_nodes;
  bool required = false;  ///< no pod is placed without the aggregator
};

/// A KubeSchedulerConfiguration, and what a person should know about it.
struct made_config {
  std::string text;
  std::vector<std::string> remarks;
};

/// For a scheduler beside the cluster's own. `json`: else YAML. Errors: invalid_input, each with the remedy.
/// Pure. Source: kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1.
result<made_config> second_scheduler(const scheduler_wiring& w, bool json);

/// `before` with our extender, in place of an older entry of ours; everything else stays (comments do not).
/// `file` is for messages.
result<made_config> patched_scheduler(const scheduler_wiring& w, const std::string& before,
                                      const std::string& file, bool json);

struct scheduler_config_arguments {
  scheduler_wiring wiring;
  std::string patch;   ///< file to patch
  std::string verify;  ///< file of a scheduler that runs
};
/// Prints one, or verifies one as `binnacle doctor` does. Remarks go to `on.err`.
int scheduler_config_command(const connection& to, const scheduler_config_arguments& what,
                             const terminal& on);

}  // namespace binnacle::cli
