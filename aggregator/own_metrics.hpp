#pragma once

#include "aggregator/callers/counters.hpp"
#include "aggregator/cluster_report.hpp"
#include "aggregator/ingest_report.hpp"
#include "aggregator/model_servers/counters.hpp"
#include "aggregator/ops/report.hpp"
#include "aggregator/replicas/counters.hpp"
#include "aggregator/sender/counters.hpp"
#include "common/async/reload_troubles.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::extender {
struct counters;
}
namespace binnacle::policy {
class view;
}

namespace binnacle::aggregator {

struct power_outlier;  // outliers/power_outliers.hpp

/// The aggregator's own state at one moment. own_metrics() turns it into numbers, own_warnings() into
/// sentences. Faces loop only; the references are valid until the loop's next event.
struct own_numbers {
  const ingest_report& ingest;
  const extender::counters& extender;
  const policy::view& nodes;
  const std::map<std::string, power_outlier>& outliers;  ///< by the nodes' names
  const async::reload_troubles& certificate_troubles;    ///< of the faces' certificates
  std::vector<ops::listener_report> listeners = {};
  std::vector<ops::certificate_report> certificates = {};
  std::optional<cluster_report> kubernetes = {};  ///< none: standalone
  std::optional<callers::gatekeeper_counters> callers = {};
  std::string callers_trouble = {};  ///< gatekeeper::trouble()
  std::optional<callers::token_counters> tokens = {};
  std::vector<sender::report> sending = {};
  std::vector<std::string> without_object = {};  ///< connected nodes that the API server does not know
  std::uint64_t decisions_dropped = 0;
  std::uint64_t decisions_trimmed = 0;
  std::uint64_t placements_dropped = 0;
  replicas::route_counters state_route = {};
  std::optional<model_servers::call_counters> model_servers = {};           ///< none: no server may be asked
  std::optional<model_servers::provider_counters> endpoint_providers = {};  ///< the same
  std::vector<std::string> model_servers_troubles = {};                     ///< service::troubles()
};

/// The binnacle_ metrics of METRICS.md, for the ops face, but for those of each policy (ops::policy_samples).
/// Reads /proc/self for CPU and memory.
std::vector<ops::own_sample> own_metrics(const own_numbers& n);

}  // namespace binnacle::aggregator
