#include "aggregator/settings/descriptor_plan.hpp"

#include <doctest/doctest.h>

namespace descriptor_plan_test {

using binnacle::aggregator::plan_descriptors;

TEST_SUITE("aggregator/settings/descriptor_plan") {
  TEST_CASE("with a limit of 1024 every port has places, and all together keep it") {
    const auto p = plan_descriptors(1'024, 20'000);
    CHECK(p.is_tight);
    CHECK(p.health >= 64);
    CHECK(p.extender + p.metrics + p.ops + p.health + p.agents + 2 * p.agents_queue <= 1'024 - 192);
  }

  TEST_CASE("with plenty, every node has its session beside full faces") {
    const auto p = plan_descriptors(1'048'576, 20'000);
    CHECK(!p.is_tight);
    CHECK(p.agents == 20'000);
    CHECK(p.agents_queue == 1'000);
    CHECK(p.health == 512);
  }
}

}  // namespace descriptor_plan_test
