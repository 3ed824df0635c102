#pragma once

#include "aggregator/enforce/pending_judgements.hpp"
#include "aggregator/enforce/policy_status.hpp"
#include "aggregator/enforce/status_pace.hpp"
#include "aggregator/enforce/status_turns.hpp"
#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/events/event_recorder.hpp"
#include "aggregator/kube/objects/policy_objects.hpp"
#include "aggregator/labels/node_label_sync.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/log/log.hpp"
#include "common/log/said_once.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace binnacle::aggregator {

struct ingest_report;

/// Writes the statuses of TASPolicy objects, on the faces loop. It looks at one policy after the other, and
/// writes what has changed while this replica has the Lease, as often as enforce::status_pace allows. A
/// status is written again until it is right. Include from .cpp files only.
class status_writer {
 public:
  struct parts {
    std::shared_ptr<kube::client> api;
    const kube::policy_objects& policies;
    const policy::view& nodes;
    const ingest_report& judged;
    const labels::node_label_sync& node_labels;
    /// Asked before every write: have all policies been read, and does this replica lead?
    std::function<bool()> may_write;
    std::function<void(kube::note)> say;  ///< takes an event about a policy
  };

  status_writer(parts p, async::loop& on, logger log);

  void start(async::task_group& in);
  /// The policy has a new text, which the call of that number of take_policies() brings to the ingest loop.
  /// No status of it is written before that text has been judged.
  void changed(const kube::object_key& key, std::uint64_t number);
  void gone(const kube::object_key& key);
  /// Tells that `parts::judged` has been replaced by a newer report.
  void reported();
  /// Why statuses cannot be written, as a sentence; empty: they can.
  const std::string& trouble() const noexcept { return trouble_.text(); }

 private:
  async::task<void> keep_statuses();
  std::optional<kube::object_key> next_object();
  async::task<void> look_at_status(kube::object_key key,
                                   const labels::node_label_sync::foreign_labels& foreign, bool has_turn);
  async::task<void> write_status(kube::object_key key, boost::json::object wanted, enforce::urgency how);

  const parts with_;
  const logger log_;
  async::event due_;
  enforce::pending_judgements unjudged_;
  enforce::status_pace pace_;
  enforce::status_turns turns_;
  kube::object_key last_looked_at_;
  said_once trouble_;
};

}  // namespace binnacle::aggregator
