#include "aggregator/predict/pod_cpu.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace pod_cpu_test {

using namespace binnacle::predict;
using kind = container_cpu::kind;
using pod = std::vector<container_cpu>;

TEST_SUITE("aggregator/predict/pod_cpu") {
  TEST_CASE("a pod uses what its containers request") {
    CHECK(pod_cores(pod{{kind::app, 0.5, 2.0}, {kind::app, 1.0, {}}}) == doctest::Approx(1.5));
  }

  TEST_CASE("a container with a limit only requests its limit") {
    CHECK(pod_cores(pod{{kind::app, {}, 2.0}}) == doctest::Approx(2));
  }

  TEST_CASE("a container that says nothing counts a tenth of a core, as for kube-scheduler") {
    CHECK(pod_cores(pod{{}}) == doctest::Approx(0.1));
    CHECK(pod_cores(pod{{}, {kind::app, 0.5, {}}}) == doctest::Approx(0.6));
    CHECK(pod_cores({}) == 0);
  }

  TEST_CASE("a request of nothing is nothing") { CHECK(pod_cores(pod{{kind::app, 0.0, 2.0}}) == 0); }

  TEST_CASE("side-cars stay and count, init containers end and do not") {
    CHECK(pod_cores(pod{{kind::init, 8.0, {}}, {kind::sidecar, 0.2, {}}, {kind::app, 1.0, {}}}) ==
          doctest::Approx(1.2));
  }

  TEST_CASE("the overhead of the pod's sandbox comes on top") {
    CHECK(pod_cores(pod{{kind::app, 1.0, {}}}, 0.25) == doctest::Approx(1.25));
  }

  TEST_CASE("what the pod requests as a whole stands for its containers") {
    CHECK(pod_cores(pod{{kind::app, 1.0, {}}, {kind::app, 1.0, {}}}, 0.25, 3.0) == doctest::Approx(3.25));
  }
}

}  // namespace pod_cpu_test
