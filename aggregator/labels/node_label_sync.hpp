#pragma once

#include "aggregator/decision/ring.hpp"
#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/objects/node_objects.hpp"
#include "aggregator/labels/label_writer.hpp"
#include "aggregator/labels/messages.hpp"
#include "aggregator/policy/published/view.hpp"
#include "common/async/task_group.hpp"
#include "common/log/log.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace binnacle::labels {

/// Nodes' labels in a cluster, on the faces loop. It follows the Node objects, tells the ingest loop which of
/// our labels they carry, and writes what the engine wishes while this replica has the Lease. It also wakes
/// the pods that this replica refused, with the Lease or without: no other replica knows of them, and waking
/// a pod twice does no harm. Include from .cpp files only.
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
    patch_counters patches;
    std::size_t foreign = 0;          ///< labels that are not written because somebody else has set them
    std::uint64_t wakes_dropped = 0;  ///< pods that are not woken, because there were too many
  };

  node_label_sync(parts p, async::loop& on, logger log);
  ~node_label_sync();

  void start(async::task_group& in);
  /// The Lease came or went.
  void look_at_lease();
  void take_wishes(std::vector<node_wishes> wishes);
  void take_claims(policy::label_claims claims);

  /// Nodes as the API server has them. Complete once nodes_read() is true.
  const kube::node_objects& objects() const noexcept;
  bool nodes_read() const noexcept;
  /// Nodes on which somebody else has set a key that policies want to set, by key.
  using foreign_labels = std::map<std::string, std::set<std::string>>;
  foreign_labels foreign() const;
  /// Connected nodes that the API server does not know; none before all Node objects have been read.
  std::vector<std::string> without_object() const;
  report state() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::labels
