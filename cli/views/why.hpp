#pragma once

#include "cli/json.hpp"
#include "cli/views/paint.hpp"

#include <string>
#include <vector>

namespace binnacle::cli {

/// A decision as one replica told it.
struct told_decision {
  json::value record;  ///< in the form that aggregator/decision/explain.hpp describes
  std::string url;     ///< the replica's
};

/// Joins the decisions of several replicas, newest first. Unless `all` is true, keeps only the newest
/// decision of each verb for each pod.
std::vector<told_decision> newest_first(std::vector<told_decision> decisions, bool all);

/// One decision in words: which nodes passed, which did not and why, with value, target, margin, age and
/// score. `now_ms`: Unix time, for "12s ago"; 0: not shown.
std::string render_decision(const told_decision& d, std::int64_t now_ms, const paint& with);

}  // namespace binnacle::cli
