#pragma once

#include "aggregator/decision/ring.hpp"
#include "aggregator/kube/client.hpp"
#include "aggregator/kube/node_objects.hpp"
#include "aggregator/labels/label_writer.hpp"
#include "aggregator/labels/messages.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/async/task_group.hpp"
#include "common/log.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace binnacle::labels {

/// Nodes' labels in a cluster, on the faces loop: follows the Node objects, tells the ingest loop what they
/// carry of ours, and writes what the engine wishes while this replica has the Lease. Pods that were refused
/// here are woken from here, with the Lease or without: no other replica knows of them, and a wake more does
/// no harm. Include from .cpp files only.
class node_label_sync {
 public:
  struct parts {
    std::shared_ptr<kube::client> api;
    router_inbox& router;
    const policy::view& nodes;
    decision::ring& decisions;
    std::function<bool()> leads;  ///< asked before every write
  };
  struct report {
    std::vector<std::string> troubles;  ///< sentences
    label_writer::counters patches;
    std::size_t foreign = 0;          ///< labels that are not written because somebody else has them
    std::uint64_t wakes_dropped = 0;  ///< pods that nobody wakes, being too many
  };

  node_label_sync(parts p, async::loop& on, logger log);
  ~node_label_sync();

  void start(async::task_group& in);
  /// The Lease came or went.
  void look_at_lease();
  void take_wishes(std::vector<node_wishes> wishes);
  void take_claims(policy::label_claims claims);

  /// Nodes as the API server has them; all of them, once nodes_read().
  const kube::node_objects& objects() const noexcept;
  bool nodes_read() const noexcept;
  /// Nodes that carry a label of somebody else's under a key of ours, by key.
  using foreign_labels = std::map<std::string, std::set<std::string>>;
  foreign_labels foreign() const;
  /// Connected nodes that the API server does not know, once all that it knows has been read.
  std::vector<std::string> without_object() const;
  report state() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::labels
