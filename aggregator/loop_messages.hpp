#pragma once

#include "aggregator/core/changes.hpp"
#include "aggregator/core/power_learning.hpp"
#include "aggregator/core/reading_shares.hpp"
#include "aggregator/ingest/authorise.hpp"
#include "aggregator/ingest/counters.hpp"
#include "aggregator/labels/messages.hpp"
#include "aggregator/policy/cost/affordable.hpp"
#include "aggregator/policy/engine/engine.hpp"
#include "aggregator/policy/published/heartbeat.hpp"
#include "aggregator/policy/text/problem.hpp"
#include "aggregator/replicas/state_route.hpp"
#include "aggregator/state/beginning.hpp"
#include "aggregator/state/state_file.hpp"
#include "aggregator/store/warehouse.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// All messages between the ingest loop and the faces loop. Each loop implements its own inbox, and knows
/// only the inbox of the other.
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
  power_learning::counters learning{};
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

/// Messages to the faces loop. Threads: called on the ingest loop; the calls post and do not block.
class faces_inbox {
 public:
  virtual ~faces_inbox() = default;
  virtual void take(faces_news news) = 0;
  virtual void take(ingest_report report) = 0;
  /// Asks who holds a token that came from the address `from`. `then` is called on the faces loop.
  virtual void review(std::string token, network from,
                      std::function<void(result<ingest::token_holder>)> then) = 0;
};

/// A policy from an API server: its text, or none if it is gone.
struct policy_text {
  std::string name;  ///< for people: "TASPolicy default/power"
  std::optional<std::string> text;
};

/// Messages to the ingest loop. Threads: any; the calls post and do not block.
class ingest_inbox : public labels::router_inbox {
 public:
  /// Starts a column for the faces; `then` is called on the ingest loop.
  virtual void watch(store::column_spec spec, std::function<void(store::warehouse::watched)> then) = 0;
  virtual void unwatch(store::column_id id) = 0;
  /// Tells which pods were deleted, by UID.
  virtual void pods_deleted(std::vector<std::string> uids) = 0;
  /// Tells that agents of most Node objects have connected since the start, or that nobody waits for them any
  /// longer.
  virtual void fleet_has_come() = 0;
  /// Takes a snapshot of the present state for another replica; `then` is called on the ingest loop.
  virtual void take_snapshot(replicas::given_state then) = 0;
  /// Beats while the ingest loop judges. Never null.
  virtual std::shared_ptr<const policy::heartbeat> heart() const = 0;
  /// Brings changed policies, if they do not come from the folder. `trouble`: one sentence that says why
  /// other changes may be unknown, or empty. `all_read`: all present policies have been brought once since
  /// the start.
  virtual void take_policies(std::vector<policy_text> changed, std::string trouble, bool all_read) = 0;
};

}  // namespace binnacle::aggregator
