#pragma once

#include "cli/doctor/finding.hpp"
#include "cli/doctor/place.hpp"

#include <span>
#include <string_view>

/// The doctor's checks, each in a file of its own. A check blocks: while it reads a few files of this
/// machine, or for place::patience with each peer. A problem is a finding, not an error.
namespace binnacle::cli::doctor {

// This machine
findings check_kernel(const place& p);
findings check_masks(const place& p);
findings check_capabilities(const place& p);
findings check_devices(const place& p);
findings check_selinux(const place& p);

// The agent
findings check_agent(const place& p);    ///< is it healthy, and what does it lack
findings check_sensors(const place& p);  ///< what `binnacle-agent --probe` finds
findings check_ingest(const place& p);   ///< the aggregators as the agent reaches them

// The cluster
findings check_certificates(const place& p);  ///< TLS files: the agent's, the scheduler's, ours
findings check_extender(const place& p);      ///< the aggregator as kube-scheduler reaches it
findings check_aggregator(const place& p);    ///< the aggregator as the command line reaches it
findings check_kubernetes(const place& p);    ///< API server, CRD, APIServices
findings check_pods(const place& p);          ///< pods of the chart that are not made or do not start
findings check_rights(const place& p);        ///< what the API server allows the aggregator to do
findings check_clocks(const place& p);

struct check {
  std::string_view name;
  std::string_view summary;
  findings (*look)(const place& p);
};
/// All of them, in the order of the report.
std::span<const check> checks() noexcept;

}  // namespace binnacle::cli::doctor
