#pragma once

#include "agent/uplink/feed.hpp"
#include "agent/uplink/link_pauses.hpp"
#include "agent/uplink/link_plan.hpp"
#include "agent/uplink/send_pace.hpp"
#include "agent/uplink/uplink.hpp"
#include "common/async/stream.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/backoff.hpp"
#include "common/log/rare_warning.hpp"
#include "common/log/said_once.hpp"
#include "common/rate_limit.hpp"
#include "common/wire/agent_session.hpp"

#include <map>
#include <memory>
#include <random>
#include <string>

// Private to uplink.cpp and uplink_link.cpp.
namespace binnacle::agent {

class uplink_link;

/// What all links of one agent share. The links and their coroutines own it.
struct uplink_core : std::enable_shared_from_this<uplink_core> {
  uplink_core(async::loop& on, uplink_options o, const board& b, logger l)
      : loop(on),
        options(std::move(o)),
        from(b),
        log(std::move(l)),
        plan(options.aggregators.size()),
        pace(options.budget),
        tasks(on, log),
        look_ups(on, log),
        names_due(on),
        random(std::random_device{}()) {}

  /// The plan has changed. Starts its new links, and lets the other links check whether they may dial.
  void plan_changed();
  /// Tells the plan what the aggregators' names resolve to, as long as the agent runs, because replicas may
  /// come and go without any link changing.
  static async::task<void> follow_names(std::shared_ptr<uplink_core> core);
  /// Whether to wait before the board is announced, since sources may still add to it.
  bool board_grows(instant now) const {
    return !stopping && now < announce_by && options.complete && !options.complete();
  }

  async::loop& loop;
  const uplink_options options;
  const board& from;
  const logger log;

  link_plan plan;
  send_pace pace;
  async::task_group tasks, look_ups;
  async::event names_due;  ///< set when links change or the uplink stops
  std::mt19937_64 random;
  std::vector<std::shared_ptr<uplink_link>> links;  ///< by slot of the plan
  struct counts {
    std::uint64_t batches = 0, bytes = 0;
  };
  std::map<std::string, counts> sent;  ///< by replica, as long as a link leads to it
  std::uint64_t reconnects = 0, conflated = 0, left_out = 0;
  rare_warning left_out_warning;
  bool met_one = false;  ///< an aggregator, since the start
  instant announce_by{}, meet_by{},
      changed_at{};  ///< changed_at: when links, or what names resolve to, last changed
  bool stopping = false;
};

/// Makes one connection after another to one configured address, when the plan allows it, until stopped.
class uplink_link : public std::enable_shared_from_this<uplink_link> {
 public:
  uplink_link(std::shared_ptr<uplink_core> shared, std::size_t slot);

  static async::task<void> run(std::shared_ptr<uplink_link> self);

  /// The board changed, or the uplink is stopping.
  void wake() { due_.notify(); }
  /// Another link has reached the same replica, where the newest session wins. Ends this link's session.
  void let_go();
  /// The replica's id, or the address before the id is known.
  const std::string& leads_to() const noexcept { return replica_.empty() ? address_ : replica_; }
  bool connected() const noexcept { return connected_; }
  std::uint64_t conflated() const;  ///< in the present session

 private:
  struct session;
  /// Runs one session, from the dial to its end. Afterwards the link must stay away for at least
  /// `retry_after_`.
  async::task<result<void>> live();
  /// The session is over. Does nothing if none was welcomed.
  void lost();
  async::task<void> read(std::shared_ptr<session> s);
  async::task<void> write(std::shared_ptr<session> s);
  error with_our_dates(const error& why) const;
  void drain_events(session& s, instant now);
  void pass_interest_on(session& s, instant now);
  void count_left_out(session& s, instant now);
  void welcomed(session& s);
  /// Whether a catalog is due, and it is too early for another one.
  bool catalog_waits(const session& s, instant now) const;
  result<void> put_what_is_due(session& s, instant now);

  const std::shared_ptr<uplink_core> core_;
  const std::size_t slot_;
  const endpoint to_;
  const std::string address_;  // as logs print it
  std::weak_ptr<session> present_;
  async::event due_;
  /// Slower than that of aggregators (ingest::node_pace): they read nothing else of a session while its
  /// catalogs come too fast. A source whose series change all the time would make all others late.
  rate_limit catalogs_{4, std::chrono::milliseconds(1100)};
  link_pauses pauses_;
  backoff search_, meeting_;
  duration retry_after_{};
  std::string replica_;  // the replica of the present or the last session
  bool connected_ = false;
  bool welcomed_ = false;        // the last dial led to a welcome
  bool let_go_ = false;          // let_go() ended the session
  bool superseded_ = false;      // the aggregator ended it for a newer session of this node
  said_once said_, said_early_;  // the last trouble that was logged, so that not every attempt logs it
};

}  // namespace binnacle::agent
