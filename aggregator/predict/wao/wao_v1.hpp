#pragma once

#include <cstdint>
#include <optional>
#include <span>

/// MinimizePower as WAO's first version computes it (kaz260/WAO-Scheduler, 2021), to the rounding: for those
/// who come from it and want to see the same scores first. It hides pods below a tenth of a node, and its
/// worst node has the score of a failed one; `cost.hpp` has neither. Pure. Units: CPU in cores, watts.
/// Source: the plug-in's code as read; its constants and its unit tests' figures.
namespace binnacle::predict::wao_v1 {

constexpr double decay = 0.85;  ///< of a limit, what a pod is taken to use
constexpr int tie_score = 10;
constexpr std::int64_t failed = -1;

/// The first container's CPU; 0 for what it does not name. The others do not count.
struct container_cpu {
  double request = 0;
  double limit = 0;

  friend bool operator==(const container_cpu&, const container_cpu&) = default;
};

/// What the pod is taken to use, in cores: the request, else a part of the limit.
constexpr double use_of(container_cpu pod) noexcept {
  return pod.request != 0 ? pod.request : decay * pod.limit;
}

/// The node's use as a share of its capacity, before and with the pod. Nothing if the container names neither
/// request nor limit, or if its limit does not fit (a request is not checked).
struct shares {
  double before = 0, after = 0;
};
std::optional<shares> shares_of(double load, double capacity, container_cpu pod) noexcept;

/// As the model is asked: to one decimal, halves away from zero.
float rounded(double share) noexcept;

/// Watts with the pod less watts before, in whole watts towards zero; `failed` if that is below 0 or no
/// number.
std::int64_t increase(double before_watts, double after_watts) noexcept;

/// Scores 0..100 of whole watts: the least has 100, the most and those that failed 0; 10 for all that did not
/// fail if they are equal. The spans have one size.
void normalise(std::span<const std::int64_t> watts, std::span<int> scores) noexcept;

}  // namespace binnacle::predict::wao_v1
