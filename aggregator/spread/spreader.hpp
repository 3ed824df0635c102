#pragma once

#include "aggregator/spread/asking_pod.hpp"
#include "aggregator/spread/facts.hpp"
#include "aggregator/spread/in_flight.hpp"
#include "aggregator/spread/world.hpp"
#include "common/clock.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace binnacle::spread {

/// Keeps the first pods of a workload apart: which candidates may have a pod, by where the others of its
/// ReplicaSet are. Pure: time is an argument. Belongs to the faces loop.
class spreader {
 public:
  /// A pod that asks to be spread.
  struct plan {
    facts told;
    asking_pod pod;
    std::map<std::string, std::uint32_t, std::less<>> pods;  ///< in each area that has any

    bool restricts() const noexcept { return told.is == facts::state::spreading; }
  };
  using name_of = std::function<std::string_view(std::size_t)>;

  /// What is known of the cluster; null: nothing, and no pod is spread. Outlives this.
  void watch(const world* cluster) noexcept { world_ = cluster; }
  bool watches() const noexcept { return world_ != nullptr; }

  /// Filter, before the candidates: what the Pod's text asks for. Nothing: it does not ask to be spread.
  std::optional<plan> open(const std::string& uid, std::string_view name_space, std::string_view pod_text,
                           instant now);
  /// Filter: all candidates at once. `may[i]`: whether the i-th may have the pod as far as others decide; it
  /// becomes false where spreading forbids it, and why[i] says why (spread::why()). At least one of those
  /// that may have it stays. The pod counts as on its way from now on.
  void choose(plan& p, const std::string& uid, const name_of& name, std::span<std::uint8_t> may,
              std::span<std::uint16_t> why, instant now);

  /// Prioritize: the kind of areas, if the pod was let through to several of them and it is not known which
  /// one it will be in. Else nothing.
  std::optional<area_kind> undecided(const std::string& uid, instant now);
  std::string_view area_of(area_kind kind, std::string_view node) const {
    return world_->area_of(kind, node);
  }
  /// The pod will be on that node, or on another node of its area.
  void settle(const std::string& uid, std::string_view node) { in_flight_.settle(uid, node); }

 private:
  void count(plan& p, instant now);

  const world* world_ = nullptr;
  in_flight in_flight_;
};

}  // namespace binnacle::spread
