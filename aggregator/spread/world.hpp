#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::spread {

enum class area_kind : std::uint8_t { region, zone, node };

/// What is known of the cluster without asking anybody: read from memory, in the middle of a call.
class world {
 public:
  struct replica_set {
    std::uint32_t replicas = 0;  ///< that are wanted, of the whole workload
    std::string_view rate;       ///< its annotation; empty: it has none
  };

  virtual ~world() = default;
  /// Whether some ReplicaSet has the annotation, so that any pod may belong to it.
  virtual bool any_set_asks() const = 0;
  /// Nothing: it is not known, or another ReplicaSet has its name now.
  virtual std::optional<replica_set> set(std::string_view name_space, std::string_view name,
                                         std::string_view uid) const = 0;
  /// `tell(uid, node)` for each of its pods that has a node, runs or will run, and is not being deleted. The
  /// texts are valid until the cluster changes.
  virtual void each_pod(std::string_view set_uid,
                        const std::function<void(std::string_view, std::string_view)>& tell) const = 0;
  /// Regions if the cluster's nodes have two, else zones if they have two, else single nodes.
  virtual area_kind areas() const = 0;
  /// The area of a node; empty: its Node object is not known or has no such label.
  virtual std::string_view area_of(area_kind kind, std::string_view node) const = 0;
  virtual bool is_control_plane(std::string_view node) const = 0;
};

}  // namespace binnacle::spread
