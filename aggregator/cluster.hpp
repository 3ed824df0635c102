#pragma once

#include "aggregator/cluster_report.hpp"
#include "aggregator/decision/ring.hpp"
#include "aggregator/extender/placements.hpp"
#include "aggregator/kube/events/event_recorder.hpp"
#include "aggregator/kube/objects/node_objects.hpp"
#include "aggregator/kube/objects/pod_objects.hpp"
#include "aggregator/labels/messages.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/settings/config.hpp"
#include "aggregator/spread/world.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::kube {
class client;
}

namespace binnacle::aggregator {

class ingest_inbox;
struct ingest_report;

/// Everything that the aggregator does with the Kubernetes API, on the faces loop. It reads policies from
/// TASPolicy objects. In the one replica that holds the Lease it also writes their statuses, events, and
/// labels of nodes. Nobody waits for the API server: a late or missing answer only makes the known data
/// older.
class cluster {
 public:
  /// What statuses and wakes are made from, and what learns where pods are. All of it is used on the faces
  /// loop.
  struct sources {
    const policy::view& nodes;
    const ingest_report& judged;
    extender::placements& placed;
    decision::ring& decisions;
  };

  /// Reads the kubeconfig or the service account's files. Errors: one sentence with the remedy.
  static result<std::unique_ptr<cluster>> open(const settings& s, logger log);
  ~cluster();

  /// Follows the API server from now on; policies go to `writer`.
  void start(async::loop& on, ingest_inbox& writer, sources from);
  /// Stops following the API server and gives up the Lease, so that the next replica may write at once.
  async::task<void> stop(async::deadline until);
  cluster_report state() const;
  /// The same as cluster_report::policies_read, without making the whole report.
  bool policies_read() const noexcept;
  /// All policies that were there at the start have been read and judged, or the API server has no such kind.
  bool policies_judged() const noexcept;
  /// Connected nodes that the API server does not know. Each call looks at all nodes.
  std::vector<std::string> nodes_without_object() const;
  /// A node's object, or null where there is none.
  const kube::node_objects::node* object_of(std::string_view node) const;
  /// The labels of the node's object, or null if there is no such object.
  const kube::packed_labels* labels_of(std::string_view node) const;
  std::size_t node_objects() const noexcept;
  /// Whether all Node objects have been read, once since the start.
  bool nodes_read() const noexcept;
  /// All pods that have a node and could be read.
  const kube::pod_objects& pods() const noexcept;
  /// Whether all pods have been read, once since the start.
  bool pods_read() const noexcept;
  /// What the spreading of pods needs to know of the cluster. Call it after start().
  const spread::world& areas() const noexcept;
  /// The client, for other questions to the API server.
  std::shared_ptr<kube::client> client() const;

  /// Writes an event and returns true if this replica is the leader; otherwise returns false. Call it after
  /// start().
  bool say(kube::note n);

  // From the ingest loop, on the faces loop, after start().
  /// Tells that `sources::judged` has been replaced by a newer report.
  void reported();
  void take_wishes(std::vector<labels::node_wishes> wishes);
  void take_claims(policy::label_claims claims);

 private:
  struct impl;
  explicit cluster(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::aggregator
