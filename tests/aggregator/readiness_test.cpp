#include "aggregator/readiness.hpp"

#include <doctest/doctest.h>

namespace readiness_test {

using namespace binnacle;
using namespace std::chrono_literals;
using aggregator::readiness;

TEST_SUITE_BEGIN("aggregator/readiness");

// An agent looks up a name every 12 s at most, a name server may answer with data that is 30 s old, and a
// dial may take 10 s. Once, a replica that was added was ready before that time had passed, without agents.
TEST_CASE("beside another replica agents are waited for longer than a new address may take to be known") {
  CHECK(readiness::waits_for_agents(0, false) == 30s);
  CHECK(readiness::waits_for_agents(0, true) > 12s + 30s + 10s);
  CHECK(readiness::waits_for_agents(1000, false) == 40s);
}

TEST_SUITE_END();

}  // namespace readiness_test
