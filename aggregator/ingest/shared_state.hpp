#pragma once

#include "aggregator/core/core.hpp"
#include "aggregator/ingest/admission.hpp"
#include "aggregator/ingest/listener.hpp"
#include "common/async/beside.hpp"
#include "common/async/task_group.hpp"
#include "common/crowd.hpp"
#include "common/log/line_throttle.hpp"
#include "common/log/rare_warning.hpp"
#include "common/token_ration.hpp"
#include "common/wire/link_offset.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace binnacle::ingest {

class agent_session;

/// Addresses from which an agent was welcomed within the last day. Pure.
class known_addresses {
 public:
  explicit known_addresses(std::size_t most) : most_(most) {}

  void add(const network& address, instant now) {
    if (seen_.size() >= most_ && !seen_.contains(address))
      std::erase_if(seen_, [now](const auto& one) { return now - one.second > remembered; });
    if (seen_.size() < most_ || seen_.contains(address)) seen_[address] = now;
  }
  bool contains(const network& address, instant now) const {
    const auto at = seen_.find(address);
    return at != seen_.end() && now - at->second <= remembered;
  }

 private:
  static constexpr duration remembered = std::chrono::hours(24);
  std::size_t most_;
  std::map<network, instant> seen_;
};

/// Pods that were deleted a moment ago. They are remembered because an answer about a pod's token may be
/// older than the deletion. All deleted pods of the cluster come here, so adding one takes constant time, and
/// when there are too many the oldest is dropped. Pure.
class deleted_pods {
 public:
  void add(const std::string& uid, instant now) {
    while (!by_age_.empty() && (by_age_.size() >= most || now - by_age_.front().at > remembered)) {
      seen_.erase(by_age_.front().uid);
      by_age_.pop_front();
    }
    if (const auto [at, fresh] = seen_.insert(uid); fresh) by_age_.push_back({now, at});
  }
  bool contains(const std::string& uid) const { return seen_.contains(uid); }
  std::size_t size() const noexcept { return seen_.size(); }

  static constexpr duration remembered = std::chrono::minutes(1);  ///< answers are kept for ten seconds
  static constexpr std::size_t most = 10'000;

 private:
  struct one {
    instant at;
    std::set<std::string>::const_iterator uid;
  };
  std::set<std::string> seen_;
  std::deque<one> by_age_;  // the oldest in front
};

/// What is kept of a node across its sessions.
struct node_link {
  std::weak_ptr<agent_session> current;  ///< the newest session that was welcomed
  wire::link_offset clock;
  node_pace catalogs, renewals;  ///< of the node, so that an agent cannot evade them by connecting again
  swap_watch swaps;
  end_watch ends;
  line_throttle lines{10, std::chrono::seconds(10)};  ///< a link that keeps breaking must not fill the log
  std::string other;  ///< the address of the agent that was last replaced or turned away
};

/// What the listener and its sessions share. All of them own it, so a session never outlives what it uses.
struct shared_state {
  shared_state(async::loop& on, ingest_options o, aggregator::core& t, logger l)
      : loop(on),
        options(std::move(o)),
        core(t),
        log(std::move(l)),
        known(options.max_sessions),
        tasks(on, log),
        beside(on) {}

  // Constant after construction.
  async::loop& loop;
  const ingest_options options;
  aggregator::core& core;  ///< what agents say goes there
  const logger log;

  // Owned by the loop.
  crowd<agent_session*> greeting;  ///< sessions that are not welcomed yet, by /24 and /48
  known_addresses known;
  token_ration tokens;
  async::task_group tasks;
  async::beside beside;  ///< prepares catalogs
  ingest_counters counters;
  wire::interest interest;
  std::unordered_set<std::shared_ptr<agent_session>> sessions;
  std::map<std::string, std::weak_ptr<agent_session>> by_pod;  ///< sessions opened by token, by pod UID
  deleted_pods gone_pods;
  std::vector<node_link> links;                     ///< by node id
  std::map<std::string, store::node_id> contested;  ///< nodes that are, or were, contested, by name
  std::map<std::string, store::node_id> restless;   ///< nodes whose sessions end, or ended, again and again
  bool closed = false;                              ///< the listener has gone, and `core` may have gone, too
  rare_warning refusal_warning, handshake_warning, overload_warning, catalog_warning, left_out_warning,
      clock_warning;
  line_throttle lines_of_strangers{50, std::chrono::seconds(10)};
  std::minstd_rand random{std::random_device{}()};
  std::array<rare_warning, wire::reason_count> end_warnings;  ///< by reason

  node_link& link_of(store::node_id id) {
    if (links.size() <= store::index(id)) links.resize(store::index(id) + 1);
    return links[store::index(id)];
  }
};

}  // namespace binnacle::ingest
