#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace binnacle::predict {

/// A container's CPU in cores, as its spec says.
struct container_cpu {
  enum class kind : std::uint8_t {
    app,
    init,     ///< ends before the others start
    sidecar,  ///< an init container with restartPolicy Always: stays
  };
  kind what = kind::app;
  std::optional<double> request, limit;
};

/// How many cores a pod will keep busy, as far as its spec says: of each container that stays its request,
/// else its limit (which the API server takes for the request, too), else 0.1 as kube-scheduler's scoring
/// takes it; and the pod's overhead. What the pod as a whole requests (spec.resources, Kubernetes 1.32)
/// stands for its containers. Init containers do not count: the node draws their watts for a moment, not for
/// the pod's life. Source: Kubernetes' documentation of resource requests, pod overhead, side-car containers
/// and pod-level resources; kube-scheduler's DefaultMilliCPURequest.
double pod_cores(std::span<const container_cpu> containers, double overhead = 0,
                 std::optional<double> pod_request = std::nullopt) noexcept;

constexpr double cores_of_silent_container = 0.1;

/// What a pod's spec says of its CPU.
struct pod_cpu {
  std::vector<container_cpu> containers;  ///< in the order of the spec, init containers last
  double overhead = 0;
  std::optional<double> request;  ///< of the pod as a whole

  double cores() const noexcept { return pod_cores(containers, overhead, request); }
};

}  // namespace binnacle::predict
