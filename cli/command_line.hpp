#pragma once

#include "cli/commands.hpp"
#include "cli/connection.hpp"
#include "cli/dashboard/dashboard.hpp"
#include "cli/doctor/doctor.hpp"
#include "cli/scheduler_config.hpp"
#include "common/config/config.hpp"

#include <functional>
#include <string>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): CLI11's own names
namespace CLI {
class App;
}
// NOLINTEND(readability-identifier-naming)

namespace binnacle::cli {

/// The chosen subcommand's function, to be run after everything was parsed.
using action = std::function<int(const connection&, const terminal&)>;

/// Whether a command needs the settings file, which says which aggregators to ask. A command that asks none
/// does not read it. The doctor reads it but also works without it, since something may be wrong with it.
enum class settings_file_is { needed, wanted, unused };

/// What the command line says, bound by set_up().
struct arguments {
  settings_file_is use = settings_file_is::needed;
  /// Whether this command may reach the aggregators through a kubeconfig. The doctor may not, because it
  /// examines the way itself; scheduler-config may not, because it calls as kube-scheduler does.
  bool is_led_by_cluster = true;
  connection flags;
  std::string settings_file;
  output_form output = output_form::text;
  status_arguments status;
  top_arguments top;
  dashboard::dashboard_arguments dashboard;
  why_arguments why;
  std::string power_node;
  what_if_arguments what_if;
  std::vector<std::string> policy_files;
  std::vector<std::string> manifests;
  doctor::doctor_arguments doctor;
  scheduler_config_arguments scheduler;
  std::vector<std::string> help_about;
};

/// Gives `app` every option and subcommand. Parsing then fills `a` and sets `chosen`; all three must live
/// until it has run.
void set_up(CLI::App& app, arguments& a, action& chosen);

}  // namespace binnacle::cli
