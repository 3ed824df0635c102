#pragma once

#include <cstdint>
#include <span>

/// MinimizePower as WAO's second version computes it (waok8s/waok8s, wao-scheduler 1.31): for those who come
/// from it and want to see the same scores first. Whole watts make many pods cost nothing; `cost.hpp` does
/// not round. Pure. Units: CPU in cores, watts. Source: the plug-in's code as read, and its unit tests'
/// figures.
namespace binnacle::predict::wao_v2 {

/// A container's CPU; 0 for what it does not name.
struct container_cpu {
  double request = 0;
  double limit = 0;
};
/// The CPU that a pod is assumed to need: the sum of its containers' requests, with the limit in place of a
/// missing request. Init containers and the pod's overhead do not count.
double need(std::span<const container_cpu> containers) noexcept;

/// How a node's score came about. Below 0 as raw values of normalise().
constexpr std::int64_t error = -1;     ///< no model, no temperature, a pod that needs nothing
constexpr std::int64_t overload = -2;  ///< the pod does not fit into the capacity

/// Whole watts more with the pod, never below 0; `error` if a prediction is no number.
std::int64_t increase(double before_watts, double after_watts) noexcept;

constexpr int base_score = 20;  ///< of the dearest node
/// Scores 0..100 of whole watts: the least has 100, the most `base`; 0 for an error, 1 for overload, `base`
/// if all are equal. The spans have one size.
void normalise(std::span<const std::int64_t> watts, std::span<int> scores, int base = base_score) noexcept;

}  // namespace binnacle::predict::wao_v2
