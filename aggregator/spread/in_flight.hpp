#pragma once

#include "common/clock.hpp"
#include "common/keyed_hash.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace binnacle::spread {

/// Pods that were let through to some areas, and that the API server has not shown on a node yet. They count
/// as placed. Otherwise all pods of a burst would see the areas as they were before the first pod.
/// Ends:   a pod is in flight for `lifetime` at most: bindings are seen within a second, and a pod whose
///         binding failed is asked about again.
/// Bounds: `most` pods; the oldest give way.
/// Pure: time is an argument, and never goes back.
class in_flight {
 public:
  static constexpr duration lifetime = std::chrono::seconds(10);
  static constexpr std::size_t most = 20'000;

  struct pod {
    std::string set_uid;
    std::string node;  ///< in the area where it will be; empty: one of several areas
    instant since{};
  };

  void put(const std::string& uid, std::string_view set_uid, std::string_view node, instant now);
  /// Notes the node where the pod goes. Does nothing for a pod that is not in flight.
  void settle(const std::string& uid, std::string_view node);
  void gone(const std::string& uid) { pods_.erase(uid); }
  /// Null: it is not in flight.
  const pod* find(const std::string& uid, instant now);
  /// `tell(uid, pod)` for each pod of the set.
  template <class F>
  void each(std::string_view set_uid, instant now, F&& tell) {
    expire(now);
    for (const auto& [uid, p] : pods_) {
      if (p.set_uid == set_uid) tell(uid, p);
    }
  }
  std::size_t size() const noexcept { return pods_.size(); }

 private:
  void expire(instant now);
  void drop_oldest();

  std::unordered_map<std::string, pod, keyed_hash> pods_;
  std::deque<std::pair<instant, std::string>> by_age_;  // some have gone or were put again since
};

}  // namespace binnacle::spread
