#include "aggregator/predict/pod_cpu.hpp"

namespace binnacle::predict {

double pod_cores(std::span<const container_cpu> containers, double overhead,
                 std::optional<double> pod_request) noexcept {
  double cores = 0;
  for (const container_cpu& c : containers) {
    if (c.what == container_cpu::kind::init) continue;
    cores += c.request ? *c.request : c.limit ? *c.limit : cores_of_silent_container;
  }
  return pod_request.value_or(cores) + overhead;
}

}  // namespace binnacle::predict
