#pragma once

#include "cli/client.hpp"
#include "cli/connection.hpp"
#include "cli/views/paint.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

/// The functions of the subcommands. Each talks to the aggregator, prints, and returns the exit status.
namespace binnacle::cli {

enum exit_status : int {
  exit_ok = 0,
  exit_problem = 1,  ///< something is wrong: no answer, no such decision, errors in a policy
  exit_usage = 2,    ///< the command line or a settings file is wrong
};

struct terminal {
  std::ostream& out;
  std::ostream& err;
  paint with;
  bool json = false;            ///< -o json
  bool is_tty = false;          ///< `out` is a terminal
  bool shows_progress = false;  ///< `err` is a terminal on which a line can be overwritten
};

struct status_arguments {
  std::int64_t nodes = 0;  ///< exit_problem unless some replica has so many nodes connected
};
int status_command(const connection& to, const status_arguments& what, const terminal& on);

struct top_arguments {
  std::vector<std::string> metrics;
  bool once = false;
};
/// At a terminal, shows the nodes live on the whole screen until the person ends it; otherwise prints one
/// table.
int top_command(const connection& to, const top_arguments& what, const terminal& on);

struct why_arguments {
  std::string pod;         ///< in any form that pod_pattern() takes
  std::string name_space;  ///< empty: all namespaces
  std::string node;
  std::string policy;
  bool all = false;        ///< every decision kept, not only the newest
  bool all_nodes = false;  ///< every candidate
  std::int64_t limit = 20;
};
/// The pattern that the server looks for. `pod` may be "web-1" or "pod/web-1" (as in kubectl), to which
/// `name_space` is added if it is not empty; or "default/web-1", a part of a name, or a UID. Pure.
std::string pod_pattern(const std::string& pod, const std::string& name_space);
int why_command(const connection& to, const why_arguments& what, const terminal& on);

/// Prints what is known of one node's watts, from any replica that has a model of the node.
int power_command(const connection& to, const std::string& node, const terminal& on);

struct what_if_arguments {
  std::int64_t pods = 1;
  std::string cpu;     ///< of each pod, as a Kubernetes quantity
  std::string policy;  ///< NAMESPACE/NAME or NAME; empty: the only one with minimizepower
};
/// Prints what pods that do not exist yet would cost, and where they would go; exit_problem unless all find
/// room, exit_usage if `cpu` is none. Any replica may answer.
int what_if_command(const connection& to, const what_if_arguments& what, const terminal& on);

int policy_list_command(const connection& to, const terminal& on);

}  // namespace binnacle::cli
