// A source of host_power_watts that says 0 W, and what is withheld with a source that is set aside. The rows
// of "What is not believed" in agent/README.md that set a source aside.
#include "tests/agent/sources/host/plausibility/machines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace plausibility_withheld_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace binnacle::agent::plausibility;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/sources/host/plausibility/withheld");

TEST_CASE("zero: DCMI and a sensor of the whole system that say 0 W are set aside at once") {
  desk d;
  const char* way = "dcmi";
  SUBCASE("DCMI") { d.has_dcmi(); }
  SUBCASE("the system's sensor") {
    d.dcmi = d.out.add_series(d.bmc, "bmc_power_watts", {{"sensor", "System Power"}, {"scope", "node"}});
    way = "bmc";
  }
  d.parts(100);
  d.out.set(d.dcmi, 240.0);
  d.pass(6);
  CHECK(d.node(way) == "240.0");
  d.out.set_absent(d.dcmi, absence::implausible);  // as reason_of() gives it for 0 W
  d.pass(1);
  CHECK(d.node(way) == "implausible");
  CHECK(d.node("rapl") == "no such series");
  CHECK(d.set_aside(way, "zero") == "1");
  // The source bmc says so itself. The source host says only what follows from it.
  CHECK_FALSE(holds(d.host.limitation(), "says 0 W"));
  CHECK(d.host.limitation().starts_with("host_power_watts has no value because " + std::string(way)));
  d.out.set_absent(d.dcmi, absence::timeout);
  d.pass(1);
  CHECK(d.node(way) == "timeout");
  for (int i = 0; i < 31; ++i) {
    d.out.set(d.dcmi, 250.0);
    d.pass(1);
  }
  CHECK(d.node(way) == "250.0");
  CHECK(d.set_aside(way, "zero") == "0");
}

TEST_CASE("zero: supplies that all say 0 W are set aside, one of two may") {
  desk d;
  d.has_supplies();
  d.parts(100);
  d.out.set(d.supply[0], 180.0);
  d.out.set(d.supply[1], 0.0);
  d.pass(6);
  CHECK(d.node("bmc") == "180.0");
  d.out.set(d.supply[0], 0.0);
  d.pass(1);
  CHECK(d.node("bmc") == "implausible");
  CHECK(d.node("rapl") == "no such series");  // packages alone are less than the machine
  CHECK(d.set_aside("bmc", "zero") == "1");
  CHECK(d.out.series()[d.supply[0]].reason == absence::implausible);
  CHECK(holds(d.host.limitation(), "bmc says 0 W although the machine is on"));
}

TEST_CASE("what a meter says besides its watts is withheld with them, and back with them") {
  desk d;
  board::series_ref watts = board::no_series;
  std::vector<board::series_ref> sisters;
  const auto other = d.out.add_series(d.rapl, "rapl_energy_joules_total", {{"zone", "dram"}});
  SUBCASE("DCMI") {
    d.has_dcmi();
    watts = d.dcmi;
    for (const char* what : {"average", "minimum", "maximum"})
      sisters.push_back(d.out.add_series(d.bmc, std::string("bmc_dcmi_") + what + "_power_watts", {}));
  }
  SUBCASE("psys") {
    d.has_psys();
    watts = d.psys;
    sisters.push_back(d.out.add_series(d.rapl, "rapl_energy_joules_total", {{"zone", "psys"}}));
  }
  d.parts(150);
  const auto says = [&](double number) {
    for (const auto s : sisters) d.out.set(s, number);
    for (const auto s : {watts, other}) d.out.set(s, number);
  };
  says(12);
  d.pass(1);
  says(12);  // their source sets them all the same
  for (const auto s : sisters) CHECK(d.out.series()[s].reason == absence::implausible);
  CHECK(d.out.series()[other].reason == absence::none);
  says(240);
  d.pass(31);
  for (const auto s : sisters) CHECK(d.out.series()[s].reason == absence::none);
}

TEST_CASE("a source that is set aside and then goes away is no longer set aside") {
  desk d;
  d.has_dcmi();
  d.parts(150);
  d.out.set(d.dcmi, 12.0);
  d.pass(1);
  CHECK(d.set_aside("dcmi", "below_parts") == "1");
  d.out.remove_group(d.bmc);
  d.pass(1);
  CHECK(d.set_aside("dcmi", "below_parts") == "0");
  CHECK(d.host.limitation().empty());
}

TEST_SUITE_END();

}  // namespace plausibility_withheld_test
