#pragma once

#include "aggregator/loop_messages.hpp"
#include "aggregator/questions/watched_columns.hpp"
#include "aggregator/settings/config.hpp"
#include "aggregator/settings/descriptor_plan.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"
#include "common/metrics/alias_table.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace binnacle::aggregator {

/// The readers (ARCHITECTURE.md, Threads): the extender, the custom metrics API, ops and health, on one event
/// loop, with the view they share. Threads: start() before run(); inbox() from any thread; everything else on
/// the thread of run().
class faces_loop {
 public:
  /// `names`: the aliases that count until inbox() brings others.
  faces_loop(const settings& s, const descriptor_plan& room,
             std::shared_ptr<const metrics::alias_table> names, logger log);
  ~faces_loop();
  faces_loop(const faces_loop&) = delete;
  faces_loop& operator=(const faces_loop&) = delete;

  /// The inbox into which the ingest loop posts.
  faces_inbox& inbox() noexcept;

  /// Loads certificates and binds the ports. `writer` is asked for columns and must outlive run(). Errors:
  /// one sentence with the remedy.
  result<void> start(ingest_inbox& writer);

  /// Runs until SIGTERM, SIGINT or SIGHUP. After the signal everything is still served for settings::drain,
  /// while /readyz fails. Then `on_signal` is called, the ports close, and running requests get the same time
  /// again.
  void run(std::function<void()> on_signal);

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::aggregator
