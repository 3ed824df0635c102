#pragma once

#include "aggregator/kube/objects/reflector.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace binnacle::kube {

/// ReplicaSets that want pods: how many, and by what rate these are spread (spread/rate.hpp). Of an object of
/// several kB some hundred bytes are kept, and nothing of those that a Deployment has scaled down to none.
/// Bounds: most_sets; what is beyond is left out and counted.
class replica_sets final : public watcher {
 public:
  static constexpr std::size_t most_sets = 100'000;

  /// What to follow, by pages: each object has the template of its pods in it.
  static reflector::settings collection();

  struct set {
    std::string uid;
    /// Of the whole workload. A rolling update raises the new ReplicaSet's own number step by step; the
    /// Deployment's stands in an annotation.
    std::uint32_t replicas = 0;
    std::string rate;  ///< the annotation for spreading, which a Deployment's is copied to; empty: none
  };
  /// Null: it is not known. Valid until the next event.
  const set* find(std::string_view name_space, std::string_view name) const;
  /// Those that have a rate.
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
