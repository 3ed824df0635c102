#pragma once

#include "aggregator/decision/explain.hpp"
#include "aggregator/ops/node_json.hpp"
#include "aggregator/ops/report.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/http/sliced.hpp"

#include <memory>
#include <string>
#include <vector>

/// Long answers, made in slices.
namespace binnacle::ops {

struct fleet_query {
  std::vector<asked_metric> metrics;
  std::size_t limit = 20'000;  ///< nodes, in name order
  instant now{};
  std::string time;  ///< of `now`, RFC 3339
};

/// {"time":…,"metrics":[{"name":…,"unit":…}],"nodes":[…],"total":n,"omitted":n}. `nodes` must outlive it. At
/// `bytes` the answer stops. Verdicts take three quarters of it at most: where those of all policies would
/// take more, each node has only those of some strategies, and "strategiesOmitted":n counts the others.
std::unique_ptr<http::slices> fleet_json(const policy::view& nodes, fleet_query q,
                                         std::size_t bytes = 64u << 20);

/// The present values of every node in the Prometheus text format, each series with the label node="…" in
/// front, our own families before those of exporters. `families` selects families; empty: all
/// (listed_families.hpp). At `bytes` the text stops, and a comment says so.
std::unique_ptr<http::slices> fleet_exposition(const store::view& nodes, std::vector<std::string> families,
                                               instant now, std::size_t bytes = 64u << 20);

/// The aggregator's own metrics: `own`, then those of each policy. `strategies`: the engine's last report.
/// `nodes` must outlive it.
std::unique_ptr<http::slices> own_exposition(std::vector<own_sample> own, const policy::view& nodes,
                                             std::vector<policy::strategy_status> strategies);

/// The decisions that `q` selects, newest first, in the form of decision::to_json(). They are searched and
/// written in slices, because a policy of 64 rules makes one decision as long as some thousand others.
/// `decisions` must outlive it. At `bytes` the answer stops: the decision that was being written says that it
/// is cut, and those after it count as omitted.
std::unique_ptr<http::slices> decision_list(const decision::ring& decisions, const decision::query& q,
                                            decision::explain_options how, std::size_t bytes = 32u << 20);

}  // namespace binnacle::ops
