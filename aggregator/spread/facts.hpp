#pragma once

#include "aggregator/spread/world.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::spread {

/// The facts behind a decision to spread, for the decision's record.
struct facts {
  enum class state : std::uint8_t {
    spreading,    ///< only the areas with the fewest pods may have it
    no_area,      ///< as spreading, but no candidate is in an area: all may have it
    enough,       ///< as many as wanted are placed: all may have it
    settled,      ///< prioritize: several areas had equally few pods; one of them is preferred
    bad_rate,     ///< the annotation is no number from 0 to 1, and counts as none
    no_set,       ///< no ReplicaSet made the pod: how many there will be is not known
    unknown_set,  ///< its ReplicaSet is not known
  };
  struct area {
    std::string name;
    std::uint32_t pods = 0;
  };
  static constexpr std::size_t most_areas = 16;

  state is = state::spreading;
  std::string rate;  ///< as it was written
  std::string set;   ///< the ReplicaSet
  std::uint32_t replicas = 0;
  std::uint32_t quota = 0;      ///< how many of the replicas are spread
  std::uint32_t placed = 0;     ///< how many of the replicas are on a node or on their way
  std::uint32_t in_flight = 0;  ///< how many of the placed ones are on their way
  area_kind kind = area_kind::node;
  std::uint32_t least = 0;  ///< pods in each area that may have the pod
  std::vector<area> areas;  ///< of the candidates, the emptiest first; most_areas at most
  std::uint32_t areas_left_out = 0;
  std::uint32_t refused = 0;        ///< candidates
  bool only_control_plane = false;  ///< nothing else was left, so these may have it
  std::string goes_to;              ///< settled: the area
};

std::string_view to_string(area_kind k) noexcept;     ///< "region", "zone", "node"
std::string_view to_string(facts::state s) noexcept;  ///< as the enumerants

/// In one sentence without a full stop, for people.
std::string text(const facts& f);

/// The same for the scheduler, which counts equal texts. So nothing in it changes from pod to pod.
std::string refusal(const facts& f);

/// Why a candidate may not have the pod, as a number that a record can keep: the pods in its area, or one of
/// these.
inline constexpr std::uint16_t without_area = 0xffff;
inline constexpr std::uint16_t control_plane = 0xfffe;
inline constexpr std::uint16_t most_counted = 0xfffd;
std::string why(const facts& f, std::uint16_t pods);

}  // namespace binnacle::spread
