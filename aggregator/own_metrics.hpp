#pragma once

#include "aggregator/callers/agent_tokens.hpp"
#include "aggregator/callers/gatekeeper.hpp"
#include "aggregator/cluster_report.hpp"
#include "aggregator/exporter/exporter.hpp"
#include "aggregator/extender/counters.hpp"
#include "aggregator/loop_messages.hpp"
#include "aggregator/ops/report.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/replicas/state_route.hpp"

#include <optional>
#include <vector>

namespace binnacle::aggregator {

/// What the numbers about ourselves are made of; all of it on the faces loop.
struct own_numbers {
  const ingest_report& ingest;
  const extender::counters& extender;
  const std::vector<ops::listener_report>& listeners;
  const std::vector<ops::certificate_report>& certificates;
  const policy::view& nodes;
  const std::optional<cluster_report>& kubernetes;
  const std::optional<callers::gatekeeper::counters>& callers;
  const std::optional<callers::agent_tokens::counters>& tokens;
  const std::optional<exporter::counters>& exported;  ///< none: nothing is written anywhere
  std::uint64_t decisions_dropped = 0;
  std::uint64_t decisions_trimmed = 0;
  std::uint64_t placements_dropped = 0;
  std::size_t without_object = 0;  ///< connected nodes, that the API server does not know
  bool reload_failed = false;      ///< of certificate files that changed
  std::size_t power_outliers = 0;  ///< nodes named
  replicas::state_route::counters state_route = {};
};

/// The binnacle_ metrics of the catalogue, for the ops face. Reads /proc/self for CPU and memory.
std::vector<ops::own_sample> own_metrics(const own_numbers& n);

}  // namespace binnacle::aggregator
