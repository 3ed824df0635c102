#include "agent/sources/bmc/bmc_snapshot.hpp"

#include "tests/agent/sources/bmc/boards.hpp"

#include <doctest/doctest.h>

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::reading_of;
using agent::test::sensor_of;

namespace {

TEST_SUITE_BEGIN("agent/sources/bmc/view");

TEST_CASE("an inventory counts when its end has come, and replaces the one before") {
  bmc_snapshot v;
  REQUIRE(v.take(ipmi::bmc{.address = "/dev/ipmi0"}));
  REQUIRE(v.take(sensor_of("20.0.1", "Inlet Temp")));
  CHECK(v.sensors().empty());
  CHECK_FALSE(v.identity().has_value());
  REQUIRE(v.take(ipmi::inventory_end{1}));
  CHECK(v.sensors().size() == 1);
  CHECK(v.identity()->address == "/dev/ipmi0");
  const auto before = v.version();
  REQUIRE(v.take(ipmi::bmc{.address = "/dev/ipmi0"}));
  REQUIRE(v.take(ipmi::inventory_end{0}));
  CHECK(v.sensors().empty());
  CHECK(v.version() != before);
  CHECK(v.inventories() == 2);
}

TEST_CASE("what does not add up breaks the protocol") {
  bmc_snapshot v;
  SUBCASE("a sensor outside an inventory") { CHECK_FALSE(v.take(sensor_of("20.0.1", "Inlet Temp"))); }
  SUBCASE("an end without a beginning") { CHECK_FALSE(v.take(ipmi::inventory_end{0})); }
  SUBCASE("a sensor is missing") {
    REQUIRE(v.take(ipmi::bmc{}));
    REQUIRE(v.take(sensor_of("20.0.1", "Inlet Temp")));
    CHECK_FALSE(v.take(ipmi::inventory_end{2}));
  }
  SUBCASE("a helper that never ends") {
    REQUIRE(v.take(ipmi::bmc{}));
    for (std::size_t i = 0; i < ipmi::max_sensors; ++i) REQUIRE(v.take(sensor_of("k", "x")));
    CHECK_FALSE(v.take(sensor_of("k", "x")));
  }
}

TEST_CASE("the newest reading of each planned sensor is taken once") {
  bmc_snapshot v;
  REQUIRE(v.take(ipmi::plan{{{"20.0.1", 1000}}}));
  REQUIRE(v.take(reading_of("20.0.1", 21)));
  REQUIRE(v.take(reading_of("20.0.1", 22)));
  REQUIRE(v.take(reading_of("20.0.2", 99)));
  const auto all = v.take_readings();
  REQUIRE(all.size() == 1);
  CHECK(all[0].value == 22);
  CHECK(v.take_readings().empty());
  REQUIRE(v.take(reading_of("20.0.1", 23)));
  v.lost();
  CHECK(v.take_readings().empty());
}

TEST_SUITE_END();

}  // namespace
