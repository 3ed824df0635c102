#pragma once

#include "aggregator/kube/objects/reflector.hpp"
#include "common/crowd.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace binnacle::kube {

/// Pods that have a node and have not finished, as the API server has them. One follower for everybody who
/// wants to know: herd damping counts those that were placed a moment ago, the custom metrics API takes a
/// pod's node and labels from here. Bounds: most_pods; what is beyond is left out and counted.
class pod_objects final : public watcher {
 public:
  static constexpr std::size_t most_pods = 200'000;

  /// What to follow: selected by the server, listed by pages (a pod is 5 to 20 kB of JSON).
  static reflector::settings collection();

  /// A pod as the API server has it now; its namespace and name are the key.
  struct pod {
    std::string uid;
    std::string node;
    std::map<std::string, std::string, std::less<>> labels;
    /// status.startTime, by the clock of the node's kubelet: for showing, not for comparing.
    std::optional<std::chrono::system_clock::time_point> started;
    bool ready = false;              ///< its condition Ready: the containers run
    double cores = 0;                ///< that it asks for (predict::pod_cpu)
    std::vector<network> addresses;  ///< empty: it has none yet
    bool on_host_network = false;    ///< its addresses are its node's
    bool leaving = false;            ///< somebody has deleted it, and it has not ended yet
    std::uint64_t set = 0;           ///< set_key() of the ReplicaSet that made it; 0: none did
  };
  /// What stands for a ReplicaSet's uid, which is 36 characters: pods are many. Who creates a pod may write
  /// any uid there, so the hash has a key: he can make no two that are one. Differs from process to process.
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
    bool before_us = false;  ///< told before the first list was whole
    double cores = 0;        ///< that it asks for
  };
  /// What happened since the last call, in order. Left alone, at most most_pods are kept.
  std::vector<change> take();

  /// Pods that found no room, each counted once (beyond most_pods of them: at least so many).
  std::size_t left_out() const noexcept { return left_out_; }

  void changed(const object_key& key, const boost::json::object& object) override;
  void gone(const object_key& key) override;
  void synced() override { synced_ = true; }

 private:
  using known_pod = std::map<object_key, pod>::value_type;
  void tell(event what, const pod& whose);
  void list_addresses(const known_pod& of);
  void unlist_addresses(const known_pod& of);
  void list_in_set(const known_pod& of);
  void unlist_in_set(const known_pod& of);

  std::map<object_key, pod> objects_;
  std::map<network, const known_pod*> by_address_;  // of two that have one, the later
  std::unordered_map<std::uint64_t, std::vector<const known_pod*>> by_set_;
  std::vector<change> changes_;
  std::size_t left_out_ = 0;
  std::unordered_set<std::size_t> without_room_;  // hashes of keys; bound: most_pods
  bool synced_ = false;
};

}  // namespace binnacle::kube
