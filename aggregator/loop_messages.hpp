#pragma once

#include "aggregator/core/faces_news.hpp"
#include "aggregator/labels/messages.hpp"
#include "aggregator/policy/policy.hpp"
#include "aggregator/replicas/given_state.hpp"
#include "aggregator/store/types.hpp"
#include "common/crowd.hpp"
#include "common/error.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// All messages between the ingest loop and the faces loop. Each loop implements its own inbox, and knows
/// only the inbox of the other. What a message carries is only declared here: who sends or takes it includes
/// its header. So the loops' headers stand on few others.
namespace binnacle::ingest {
struct token_holder;
}
namespace binnacle::policy {
class heartbeat;
}
namespace binnacle::store {
struct watched_values;
}

namespace binnacle::aggregator {

struct ingest_report;  // ingest_report.hpp

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

/// A policy from an API server: its text, or why it is refused unread; neither if it is gone.
struct policy_text {
  struct refusal {
    std::string uid, figures, remedy;
  };
  std::string name;  ///< for people: "TASPolicy default/power"
  policy::policy_key policy;
  std::optional<std::string> text;
  std::optional<refusal> refused = {};
};

/// Messages to the ingest loop. Threads: any; the calls post and do not block.
class ingest_inbox : public labels::router_inbox {
 public:
  /// Starts a column for the faces; `then` is called on the ingest loop.
  virtual void watch(store::column_spec spec, std::function<void(store::watched_values)> then) = 0;
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
