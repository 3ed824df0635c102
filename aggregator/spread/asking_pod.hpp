#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace binnacle::spread {

/// What spreading must know of a pod that waits for a node.
struct asking_pod {
  std::string name_space;
  std::string set;                ///< the ReplicaSet that made it; empty: none did
  std::string set_uid;            ///< its uid; empty: no ReplicaSet made the pod
  std::string rate;               ///< its own annotation; empty: it has none
  bool to_control_plane = false;  ///< it tolerates the taint node-role.kubernetes.io/control-plane:NoSchedule
};

/// Whether the text of a Pod might hold the annotation: a search, not a reading.
bool may_ask(std::string_view pod) noexcept;

/// From the text of a whole Pod. What is missing or of another type says nothing; so does a text that is no
/// JSON object. The text may be of any length; a caller who reads from a stranger bounds it.
/// Source: Kubernetes' meta/v1 OwnerReference, core/v1 Toleration.
asking_pod asking_pod_of(std::string_view pod);

/// The annotation of an object's metadata; empty: it has none. If both of its names are there, WAO's present
/// one counts. Of a text of more than 32 bytes, which no rate needs, the beginning and an ellipsis: it counts
/// as none, and an annotation may have 256 KiB.
std::string rate_in(const boost::json::object& metadata);

/// From an object's metadata: the reference to the ReplicaSet that controls it; null: none does.
const boost::json::object* replica_set_in(const boost::json::object& metadata) noexcept;

}  // namespace binnacle::spread
