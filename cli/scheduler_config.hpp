#pragma once

#include "cli/commands.hpp"
#include "cli/doctor/finding.hpp"
#include "common/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace binnacle::cli {

/// How kube-scheduler is to reach and use the extender.
struct scheduler_wiring {
  std::string kubernetes = "1.30";  ///< version of kube-scheduler: "1.34", "v1.34.2"
  std::string name = "binnacle-scheduler";
  std::string url = "https://binnacle.binnacle.svc:9001";
  // Paths as the scheduler sees them; the chart mounts them there.
  std::string ca = "/etc/binnacle/pki/ca.crt";
  std::string certificate = "/etc/binnacle/pki/tls.crt";
  std::string key = "/etc/binnacle/pki/tls.key";
  std::string timeout = "500ms";
  /// The weight of our scores. With 100, one point of ours outweighs everything that the scheduler's own
  /// plug-ins add: see aggregator/extender/README.md.
  int weight = 100;
  /// Percent of the nodes that kube-scheduler looks at for a pod. 0: kube-scheduler chooses, and above 100
  /// nodes looks at a part of them. Not set: 100 for a second scheduler; patching leaves the file's own
  /// value.
  std::optional<int> percent_of_nodes;
  bool required = false;  ///< while no aggregator answers, no pod is placed
};

/// A KubeSchedulerConfiguration, and remarks about it for people.
struct made_config {
  std::string text;
  std::vector<std::string> remarks;
};

/// The configuration of a scheduler beside the cluster's own, as JSON if `json` is true, else as YAML.
/// Errors: invalid_input, each with the remedy. Pure. Source:
/// kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1.
result<made_config> second_scheduler(const scheduler_wiring& w, bool json);

/// `before` with our extender, which replaces an older entry of ours. Everything else stays, except comments.
/// `file` is named in messages.
result<made_config> patched_scheduler(const scheduler_wiring& w, const std::string& before,
                                      const std::string& file, bool json);

struct scheduler_config_arguments {
  scheduler_wiring wiring;
  std::string patch;   ///< the file to patch
  std::string verify;  ///< the configuration file of a running scheduler
};
/// Prints a configuration, or verifies one as `binnacle doctor` does. Remarks go to `on.err`.
int scheduler_config_command(const connection& to, const scheduler_config_arguments& what,
                             const terminal& on);

}  // namespace binnacle::cli
