#pragma once

#include "cli/connection.hpp"
#include "cli/dashboard/second_thread.hpp"
#include "cli/doctor/checks.hpp"
#include "common/async/task.hpp"

#include <functional>
#include <string>
#include <vector>

namespace binnacle::cli::dashboard {

/// The doctor's checks of the cluster, made again and again while a page shows them. Checks block, so they
/// run one after another on a thread beside the loop. Include from .cpp files only. Threads: one loop.
class rounds {
 public:
  /// `where` says where the doctor looks from, once a round; it may block, and runs on the other thread, as
  /// the checks do. `on` must outlive the rounds. Their end waits for the check that is running.
  rounds(async::loop& on, std::function<doctor::place()> where, std::vector<doctor::check> checks);

  /// Makes all checks once, and gives what they found as JSON:
  /// {"nowMs":…,"checks":[{"name":…,"summary":…,"findings":[…]}]}. Empty if the coroutine was cancelled. A
  /// check that throws is a finding.
  async::task<std::string> make();

 private:
  const std::function<doctor::place()> where_;
  const std::vector<doctor::check> checks_;
  second_thread thread_;
};

/// The doctor's checks that a page may make again and again: those of the cluster which leave no trace there.
/// What agents and aggregators say of themselves is on the page anyway.
std::vector<doctor::check> checks_of_cluster();
/// Where they look from.
doctor::place place_of_rounds(const connection& to);

}  // namespace binnacle::cli::dashboard
