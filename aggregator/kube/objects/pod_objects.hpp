#pragma once

#include "aggregator/kube/objects/label_room.hpp"
#include "aggregator/kube/objects/packed_labels.hpp"
#include "aggregator/kube/objects/reflector.hpp"
#include "common/crowd.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace binnacle::kube {

/// The API server's pods that have a node and have not finished. One follower serves all users: herd damping
/// counts the pods that were placed a moment ago, and the custom metrics API needs a pod's node and labels.
/// Bounds: most_pods; further pods are left out and counted. most_label_bytes and most_labels_bytes: a pod
/// whose labels take more, or find no room, is known without them, and counted.
class pod_objects final : public watcher {
 public:
  static constexpr std::size_t most_pods = 200'000;
  /// The labels of one pod. A label that is as long as the API server takes it has 380 bytes, a usual one 60.
  static constexpr std::size_t most_label_bytes = std::size_t{16} << 10;
  /// The labels of all pods: 1,342 bytes for each of most_pods.
  static constexpr std::size_t most_labels_bytes = std::size_t{256} << 20;

  explicit pod_objects(std::size_t labels_bytes = most_labels_bytes) : label_room_(labels_bytes) {}

  /// The collection to follow. The server selects the pods, and lists come in pages (a pod has 5 to 20 kB of
  /// JSON).
  static reflector::settings collection();

  /// A pod as the API server has it now; its namespace and name are the key.
  struct pod {
    std::string uid;
    /// The UID that the kubelet gave to the static pod of which this is the mirror, as in the names of
    /// cgroups; empty for other pods.
    std::string static_uid;
    std::string node;
    packed_labels labels;
    bool without_labels = false;  ///< it has labels, and they are not kept: there are too many bytes of them
    /// status.startTime, by the clock of the node's kubelet, in whole seconds; none: no kubelet has seen the
    /// pod yet. An age that is made from it and from our clock is wrong by what the two clocks differ.
    std::optional<std::chrono::system_clock::time_point> started;
    bool ready = false;              ///< its condition Ready: the containers run
    double cores = 0;                ///< the pod's CPU request (predict::pod_cpu)
    std::vector<network> addresses;  ///< empty: it has none yet
    bool on_host_network = false;    ///< its addresses are its node's
    bool leaving = false;            ///< somebody has deleted it, and it has not ended yet
    std::uint64_t set = 0;           ///< set_key() of the ReplicaSet that made it; 0: none did
    std::size_t place_in_set = 0;    ///< its index in made_by(set)
  };
  /// A hash that stands for a ReplicaSet's uid: the uid has 36 characters, and pods are many. Whoever creates
  /// a pod may write any uid there, so the hash is keyed, and nobody can make two uids with one hash. The key
  /// differs in each process.
  static std::uint64_t set_key(std::string_view uid) noexcept;
  const std::map<object_key, pod>& objects() const noexcept { return objects_; }
  /// The pod of that name, or null. Valid until the next event.
  const pod* find(const object_key& key) const noexcept;
  /// Pods that a ReplicaSet made, in no order; null for none. Valid until the next event.
  const std::vector<const std::pair<const object_key, pod>*>* made_by(std::uint64_t set) const noexcept;
  /// The name of a pod that has the address for itself, or null. Valid until the next event.
  const object_key* at_address(const network& address) const noexcept;

  enum class event : unsigned char { placed, ready, unready, gone };
  struct change {
    event what = event::placed;
    std::string uid;
    std::string node;
    bool before_us = false;  ///< known before the first list was complete
    double cores = 0;        ///< the pod's CPU request
    std::optional<std::chrono::system_clock::time_point> started;  ///< as in `pod`
  };
  /// The changes since the last call, in order. If nobody calls it, at most most_pods changes are kept.
  std::vector<change> take();

  /// The number of pods that found no room, each counted once. (If there are more than most_pods of them, it
  /// is a lower bound.)
  std::size_t left_out() const noexcept { return left_out_; }

  /// How often the labels of a pod were not kept, once for each pod that has lost them.
  std::size_t labels_left_out() const noexcept { return labels_left_out_; }
  /// The number of pods that are known without their labels now, and the last of them that was left out.
  std::size_t without_labels() const noexcept { return without_labels_; }
  const std::string& last_without_labels() const noexcept { return last_without_labels_; }

  void changed(const object_key& key, const boost::json::object& object) override;
  void gone(const object_key& key) override;
  void synced() override { synced_ = true; }

 private:
  using known_pod = std::map<object_key, pod>::value_type;
  void tell(event what, const pod& whose);
  void keep_labels(known_pod& of, bool was_without);
  void leave_out_labels(known_pod& of, bool was_counted);
  void forget_labels(known_pod& of);
  void list_addresses(const known_pod& of);
  void unlist_addresses(const known_pod& of);
  void list_in_set(known_pod& of);
  void unlist_in_set(const known_pod& of);

  std::map<object_key, pod> objects_;
  std::map<network, const known_pod*> by_address_;  // if two pods have an address, the later one
  std::unordered_map<std::uint64_t, std::vector<const known_pod*>> by_set_;
  std::vector<change> changes_;
  std::size_t left_out_ = 0;
  std::unordered_set<std::size_t> without_room_;  // hashes of keys; bound: most_pods
  label_room<known_pod> label_room_;
  std::size_t labels_left_out_ = 0, without_labels_ = 0;
  std::string last_without_labels_;  // "namespace/name"
  bool synced_ = false;
};

}  // namespace binnacle::kube
