#pragma once

#include "aggregator/config.hpp"
#include "aggregator/descriptor_plan.hpp"
#include "aggregator/ingest/authorise.hpp"
#include "aggregator/ingest/counters.hpp"
#include "aggregator/labels/label_router.hpp"
#include "aggregator/policy/alias_file.hpp"
#include "aggregator/policy/engine.hpp"
#include "aggregator/policy/problem.hpp"
#include "aggregator/store/view.hpp"
#include "aggregator/store/warehouse.hpp"
#include "common/error.hpp"
#include "common/log.hpp"
#include "common/metrics/alias_table.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// What the ingest loop says of itself, once a second and when policies came; a plain copy for the other
/// thread.
struct ingest_report {
  ingest::ingest_counters sessions;
  std::vector<ingest::contest> contests;
  std::vector<ingest::repeated_end> repeated_ends;
  store::warehouse_counters store;
  policy::engine_counters engine;
  std::size_t nodes = 0, series = 0, columns = 0, shapes = 0;
  std::size_t ids_given = 0, most_ids = 0;  ///< of nodes; see store::warehouse
  std::vector<policy::strategy_status> strategies;
  std::vector<policy::condition> conditions;
  std::vector<policy::problem> problems;  ///< of the policy files and the file of aliases, as last read
  /// How many calls of take_policies() this is after: what they gave has been judged.
  std::uint64_t policies_taken = 0;
  long certificate_seconds_left = 0;
  std::vector<std::string> certificate_troubles;  ///< sentences: why renewed files are not in force
};

/// What the ingest loop tells the faces; each is called on the ingest loop and must not block (it posts).
struct faces_mail {
  std::function<void(store::node_update)> node;
  std::function<void(store::node_id, const std::string& name, std::map<std::string, std::string>)> labels;
  /// Likewise, what policies in DryRun would give.
  std::function<void(store::node_id, const std::string& name, std::map<std::string, std::string>)>
      would_be_labels;
  std::function<void(std::vector<node_wishes>)> wishes;  ///< in a cluster
  std::function<void(policy::label_claims)> claims;      ///< likewise, before the wishes that follow from it
  std::function<void(std::vector<store::node_id>)> forgotten;
  std::function<void(std::shared_ptr<const policy::policy_table>)> policies;
  std::function<void(std::shared_ptr<const metrics::alias_table>)> aliases;
  std::function<void(ingest_report)> report;
  /// Whose a token is, asked on the faces loop; `then` is called there.
  ingest::token_reviewer review;
};

/// A policy that comes from an API server: its text, or none when it is gone.
struct policy_text {
  std::string name;  ///< for people: "TASPolicy default/power"
  std::optional<std::string> text;
};

/// The single writer (ARCHITECTURE.md, Threads): agents' connections, the store, the policy engine, the
/// policy files and the file of aliases, on one event loop with one timer for everything that happens because
/// nothing arrived. Threads: start() before run(); watch(), unwatch(), take_…(), set_writes_labels() and
/// stop() from any thread; everything else on the thread of run().
class ingest_loop {
 public:
  /// `names` has been read once.
  ingest_loop(const settings& s, const descriptor_plan& room, policy::alias_file names, faces_mail mail,
              logger log);
  ~ingest_loop();
  ingest_loop(const ingest_loop&) = delete;
  ingest_loop& operator=(const ingest_loop&) = delete;

  /// Reads certificates and policies and binds the port. Errors: one sentence with the remedy; nothing runs
  /// then.
  result<void> start();
  std::uint16_t port() const noexcept;

  /// Runs until stop() is done.
  void run();
  /// Says goodbye to the agents; run() returns after at most `grace`.
  void stop(std::chrono::milliseconds grace);

  /// Starts a column for the faces; `then` is called on the ingest loop.
  void watch(store::column_spec spec, std::function<void(store::warehouse::watched)> then);
  void unwatch(store::column_id id);

  /// Policies that changed, when they do not come from the folder. `trouble`: why more may have changed
  /// unseen, in one sentence, or empty. `all_read`: all that are there have been given, once since the start.
  void take_policies(std::vector<policy_text> changed, std::string trouble, bool all_read);
  /// What Node objects carry of our labels, whenever that changes.
  void take_node_labels(std::vector<node_labels> nodes);
  /// Keys that others have on nodes, whenever that changes.
  void take_taken_keys(std::vector<node_taken> nodes);
  /// Whether this replica writes the labels; see policy::engine. In a cluster it does not at first.
  void set_writes_labels(bool writes);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::aggregator
