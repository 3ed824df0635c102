#pragma once

#include "aggregator/loop_messages.hpp"
#include "aggregator/policy/text/alias_file.hpp"
#include "aggregator/settings/config.hpp"
#include "aggregator/settings/descriptor_plan.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// The single writer (ARCHITECTURE.md, Threads): the shell of the core. It brings the core agents' sessions
/// and what policy/text/policy_files.hpp reads of policies and aliases, keeps the one timer for everything
/// that happens because nothing arrived, and sends on what the core yields. Threads: start() before run();
/// the functions of ingest_inbox and stop() from any thread; everything else on the thread of run().
class ingest_loop final : public ingest_inbox {
 public:
  /// `names`: the aliases as read at the start. `faces` must outlive run().
  ingest_loop(const settings& s, const descriptor_plan& room, policy::alias_file names, faces_inbox& faces,
              logger log);
  ~ingest_loop() override;
  ingest_loop(const ingest_loop&) = delete;
  ingest_loop& operator=(const ingest_loop&) = delete;

  /// Reads certificates and policies and binds the port. Errors: one sentence with the remedy; nothing runs
  /// then.
  result<void> start();
  std::uint16_t port() const noexcept;

  /// Asks other replicas for their state, if there are any (settings::state_from), and runs until stop() is
  /// done.
  void run();
  /// Says goodbye to the agents; run() returns after at most `grace`.
  void stop(std::chrono::milliseconds grace);

  void watch(store::column_spec spec, std::function<void(store::watched_values)> then) override;
  void unwatch(store::column_id id) override;
  void pods_deleted(std::vector<std::string> uids) override;
  void fleet_has_come() override;
  std::shared_ptr<const policy::heartbeat> heart() const override;
  void take_snapshot(replicas::given_state then) override;
  void take_policies(std::vector<policy_text> changed, std::string trouble, bool all_read) override;
  void take_node_labels(std::vector<labels::node_labels> nodes) override;
  void all_nodes_told() override;
  void take_taken_keys(std::vector<labels::node_taken> nodes) override;
  void set_writes_labels(bool writes) override;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::aggregator
