#pragma once

#include "agent/feed.hpp"
#include "agent/uplink.hpp"
#include "common/async/stream.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/wire/agent_session.hpp"
#include "common/wire/backoff.hpp"

#include <memory>
#include <random>
#include <set>
#include <string>

// Private to uplink.cpp and uplink_link.cpp.
namespace binnacle::agent {

class uplink_link;

/// What the links of one agent share. The links and their coroutines own it.
struct uplink_core {
  uplink_core(async::loop& on, uplink_options o, const board& b, logger l)
      : loop(on), options(std::move(o)), from(b), log(std::move(l)), tasks(on, log), random(std::random_device{}()) {}

  async::loop& loop;
  const uplink_options options;
  const board& from;
  const logger log;

  async::task_group tasks;
  std::mt19937_64 random;
  std::vector<std::shared_ptr<uplink_link>> links;
  std::set<std::string> held;  ///< replica ids that a link has
  std::uint64_t reconnects = 0, conflated = 0;
  bool stopping = false;
};

/// One connection after another to one address, until stopped.
class uplink_link : public std::enable_shared_from_this<uplink_link> {
 public:
  uplink_link(std::shared_ptr<uplink_core> shared, endpoint to);

  static async::task<void> run(std::shared_ptr<uplink_link> self);

  /// The board changed, or the uplink is stopping.
  void wake() { due_.notify(); }
  const endpoint& to() const noexcept { return to_; }
  link_report report() const;

 private:
  struct session;
  /// One session from the dial to its end; how long to stay away is at least `retry_after_` then.
  async::task<result<void>> live();
  async::task<void> read(std::shared_ptr<session> s);
  async::task<void> write(std::shared_ptr<session> s);
  void drain_events(session& s, instant now);
  void welcomed(session& s);
  result<void> put_what_is_due(session& s, instant now);

  const std::shared_ptr<uplink_core> core_;
  const endpoint to_;
  async::event due_;
  wire::backoff backoff_;
  duration retry_after_{};
  std::string replica_;  // of the present session
  bool connected_ = false;
  std::string said_;  // the last trouble that was logged: said once, not at every attempt
  std::uint64_t batches_ = 0;
};

}  // namespace binnacle::agent
