#pragma once

#include "aggregator/core/reading_shares.hpp"
#include "aggregator/ingest/counters.hpp"
#include "aggregator/policy/cost/report.hpp"
#include "aggregator/policy/engine/counters.hpp"
#include "aggregator/policy/engine/status.hpp"
#include "aggregator/policy/text/problem.hpp"
#include "aggregator/predict/learning/learner.hpp"
#include "aggregator/state/beginning.hpp"
#include "aggregator/state/state_file.hpp"
#include "aggregator/store/counters.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// The ingest loop's report about itself, made once a second and when policies came. It is a plain copy for
/// the other thread.
struct ingest_report {
  ingest::ingest_counters sessions;
  std::vector<ingest::contest> contests;
  std::vector<ingest::repeated_end> repeated_ends;
  store::warehouse_counters store;
  policy::engine_counters engine;
  std::size_t nodes = 0, series = 0, columns = 0, shapes = 0;
  std::size_t ids_given = 0, most_ids = 0;  ///< ids of nodes; see store::warehouse
  std::vector<policy::strategy_status> strategies;
  std::vector<policy::condition> conditions;
  policy::cost_report costs;
  reading_shares readings;  ///< without the interest
  predict::learner::counters learning{};
  std::vector<policy::problem> problems;  ///< of the policy files and the file of aliases, as last read
  /// The number of calls of take_policies() before this report. The policies that they brought have been
  /// judged.
  std::uint64_t policies_taken = 0;
  long certificate_seconds_left = 0;
  beginning began;
  bool policies_read = false;  ///< all policies have been read once
  state_file::counters state;
  std::vector<std::string> certificate_troubles;  ///< sentences: why renewed files are not in force
};

}  // namespace binnacle::aggregator
