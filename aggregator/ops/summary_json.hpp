#pragma once

#include "aggregator/ops/report.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/http/sliced.hpp"

#include <cstddef>
#include <memory>
#include <string>

/// What the ops API reports about the aggregator as a whole. README.md in this folder documents the fields.
namespace binnacle::ops {

struct decision_totals {
  std::size_t kept = 0;
  std::uint64_t total = 0, dropped = 0;
};

/// GET /api/v1/status. `nodes` must outlive it.
std::unique_ptr<http::slices> status_json(const policy::view& nodes, self_report self, policy_report about,
                                          const decision_totals& decisions, instant now, std::string time);

/// GET /api/v1/policies: every policy in force with its rules and the nodes that violate it, at most
/// `most_nodes` names each, and the problems in policy texts. Each policy needs a walk over all nodes,
/// with their labels, in slices of its own. `nodes` must outlive it.
std::unique_ptr<http::slices> policy_list(const policy::view& nodes, policy_report about,
                                          std::size_t most_nodes);

/// GET /api/v1/labels: the labels that policies put on nodes, and the labels that policies in DryRun would
/// put there. Nodes without any are left out. At `bytes` the answer stops, and "omitted" counts the nodes
/// that had no room. `nodes` must outlive it.
std::unique_ptr<http::slices> labels_json(const store::view& nodes, std::size_t bytes = 64u << 20);

}  // namespace binnacle::ops
