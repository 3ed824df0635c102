#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace binnacle::kube {

/// The memory that the labels of all pods may take together, and whose labels must go if they take more:
/// those of the pod with most bytes, in the namespace with most bytes. So whoever gives pods long labels
/// takes room from other pods of that namespace, and first from those with long labels. It costs the
/// logarithm of the number of pods. Pure.
template <class Pod>
class label_room {
 public:
  explicit label_room(std::size_t most) : most_(most) {}

  /// The labels of a pod of that namespace took `before` bytes and take `now`.
  void changed(const std::string& name_space, Pod* pod, std::size_t before, std::size_t now) {
    if (before == now) return;
    const auto at = groups_.try_emplace(name_space).first;
    group& in = at->second;
    if (in.bytes > 0) largest_.erase({in.bytes, &in});
    if (before > 0) in.pods.erase({before, pod});
    if (now > 0) in.pods.insert({now, pod});
    in.bytes += now - before;  // modulo the type's range: the sum is right
    bytes_ += now - before;
    if (in.bytes > 0) {
      largest_.insert({in.bytes, &in});
    } else {
      groups_.erase(at);
    }
  }
  /// A pod whose labels must go, so that the others have room. Null: there is room for all.
  Pod* excess() const { return bytes_ <= most_ ? nullptr : largest_.rbegin()->second->pods.rbegin()->second; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct group {
    std::size_t bytes = 0;
    std::set<std::pair<std::size_t, Pod*>> pods;  // those that have labels
  };

  std::size_t most_, bytes_ = 0;
  std::map<std::string, group> groups_;  // by namespace; each has bytes
  std::set<std::pair<std::size_t, const group*>> largest_;
};

}  // namespace binnacle::kube
