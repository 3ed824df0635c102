#pragma once

#include "aggregator/kube/objects/reflector.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace binnacle::kube {

/// ReplicaSets that want pods: how many pods, and the rate by which these are spread (spread/rate.hpp). Of an
/// object of several kB at most some hundred bytes are kept; nothing is kept of a ReplicaSet that was scaled
/// down to zero. Bounds: most_sets; further ones are left out and counted.
class replica_sets final : public watcher {
 public:
  static constexpr std::size_t most_sets = 100'000;

  /// The collection to follow. Lists come in pages, because each object contains the template of its pods.
  static reflector::settings collection();

  struct set {
    std::string uid;
    /// The number of replicas of the whole workload. During a rolling update a new ReplicaSet's own number
    /// grows step by step, so the Deployment's number is taken, from an annotation.
    std::uint32_t replicas = 0;
    std::string rate;  ///< spread::rate_in(), the annotation (Deployments pass theirs on); empty: none
  };
  /// The ReplicaSet of that name, or null if it is not known. Valid until the next event.
  const set* find(std::string_view name_space, std::string_view name) const;
  /// The number of ReplicaSets that have a rate.
  std::size_t asking() const noexcept { return asking_; }
  std::size_t size() const noexcept { return sets_.size(); }
  std::size_t left_out() const noexcept { return left_out_; }

  void changed(const object_key& key, const boost::json::object& object) override;
  void gone(const object_key& key) override;
  void synced() override {}

 private:
  std::map<object_key, set> sets_;
  std::size_t asking_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace binnacle::kube
