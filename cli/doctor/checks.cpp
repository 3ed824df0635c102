#include "cli/doctor/checks.hpp"

namespace binnacle::cli::doctor {
namespace {

constexpr check all_checks[] = {
    {"kernel", "version, perf_event_paranoid", check_kernel},
    {"masks", "what a container's runtime hides below /sys", check_masks},
    {"capabilities", "what the agent that runs here, or else this command, may do", check_capabilities},
    {"devices", "RAPL, /dev/ipmi0, resctrl", check_devices},
    {"selinux", "denials of our programs in the audit log", check_selinux},
    {"agent", "whether the agent runs, is ready and has its links", check_agent},
    {"sensors", "what binnacle-agent --probe finds", check_sensors},
    {"certificates", "the agent's, the scheduler's and your TLS files", check_certificates},
    {"ingest", "the aggregators as the agent sees them", check_ingest},
    {"extender", "a filter call as kube-scheduler makes it", check_extender},
    {"aggregator", "the aggregator's status, and whether it hears this node", check_aggregator},
    {"kubernetes", "API server, CRD, APIServices", check_kubernetes},
    {"pods", "pods of the chart that are not made, do not start, are not ready or ran out of memory",
     check_pods},
    {"rights", "what the aggregator may do in the cluster", check_rights},
    {"clocks", "whether the clocks of aggregators and API server agree with ours", check_clocks},
};

}  // namespace

std::span<const check> checks() noexcept { return all_checks; }

}  // namespace binnacle::cli::doctor
