#pragma once

#include "aggregator/core/core.hpp"
#include "aggregator/replicas/ask_replicas.hpp"
#include "aggregator/replicas/state_route.hpp"
#include "aggregator/state/beginning.hpp"
#include "aggregator/state/state_file.hpp"
#include "common/async/task.hpp"
#include "common/async/task_group.hpp"
#include "common/log/log.hpp"
#include "common/text/endpoint.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// Takes the state of a core through restarts (README.md). At the start it gives the core what the state file
/// or another replica has; from then on it writes the file, and gives the state to replicas that ask. A
/// snapshot is copied in small pieces, with agents' values in between. One snapshot at a time is in memory.
/// Threads: the ingest loop's, but for stop_asking().
class state_keeper {
 public:
  /// `path`: of the state file; empty: there is none. `replicas`: whom to ask at the start; empty: nobody.
  /// `of` and the loop that start() is called for must outlive it.
  state_keeper(core& of, std::string path, std::vector<endpoint> replicas, logger log);
  ~state_keeper();
  state_keeper(const state_keeper&) = delete;
  state_keeper& operator=(const state_keeper&) = delete;

  bool asks_replicas() const noexcept { return !replicas_.empty(); }
  /// Asks the other replicas. Blocks for as long as replicas::ask_replicas() takes, before the ingest loop
  /// runs. `shown`: the certificate that all replicas share.
  replicas::outcome ask_replicas(std::shared_ptr<SSL_CTX> shown);
  /// Makes ask_replicas() return. Any thread.
  void stop_asking();

  /// Gives the core what other replicas `told` and what the file has. Before any other event of the core.
  void begin(replicas::outcome told);
  const beginning& began() const noexcept { return began_; }

  /// Writes the file from now on.
  void start(async::task_group& tasks);
  /// Writes the file once more, while agents are still connected: what comes after is lost anyway.
  void keep_last();
  /// Gives `then` the present state, or the reason why another replica should not take it.
  async::task<void> give(replicas::given_state then);

  state_file::counters counted() const { return file_ ? file_->counted() : state_file::counters{}; }

 private:
  std::optional<snapshot> state_of_file(const clocks& now) const;
  async::task<void> keep_writing();
  async::task<snapshot> copy_core(duration& took);
  bool is_taking() const { return !taken_.expired() || (file_ && file_->is_busy()); }
  std::shared_ptr<const void> begin_taking();

  core& core_;
  const std::string path_;
  const std::vector<endpoint> replicas_;
  const logger log_;
  async::loop asking_;  // runs before the ingest loop does
  beginning began_;
  std::weak_ptr<const void> taken_;  // lives while there is a snapshot in memory that is not the file's
  std::optional<state_file> file_;   // from start() on
};

}  // namespace binnacle::aggregator
