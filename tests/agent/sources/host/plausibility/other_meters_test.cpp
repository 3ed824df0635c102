// Meters of the whole machine beside each other: DCMI, the supplies, a sensor of the system. The rows of
// "What is not believed" in agent/README.md that set a source aside.
#include "tests/agent/sources/host/plausibility/machines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace plausibility_other_meters_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace binnacle::agent::plausibility;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/sources/host/plausibility/other_meters");

TEST_CASE("two meters of the machine agree, and psys or memory says more: nobody knows which is wrong") {
  desk d;
  d.has_dcmi();
  d.has_supplies();
  const char* blamed = "bmc says as much as dcmi, so either both lack a supply, or psys counts too much";
  SUBCASE("psys, from the start") {
    d.has_psys();
    d.parts(150);
    d.out.set(d.psys, 900.0);
    d.meters(400, 404);
    d.pass(1);
    CHECK(d.node("psys") == "900.0");
    CHECK(holds(d.host.limitation(), "dcmi said 400.0 W, less than the 900.0 W of the platform (psys)"));
  }
  SUBCASE("psys, later") {
    d.has_psys();
    d.parts(150);
    d.out.set(d.psys, 350.0);
    d.meters(400, 404);
    d.pass(10);
    CHECK(d.node("dcmi") == "400.0");
    d.out.set(d.psys, 900.0);
    d.pass(61);
    CHECK(d.node("dcmi") == "implausible");
    CHECK(holds(d.host.limitation(), "dcmi and bmc contradict psys, and nobody knows which is wrong"));
    CHECK_FALSE(holds(d.host.limitation(), "restart the agent"));
  }
  SUBCASE("memory") {
    d.parts(120, 200);
    d.meters(250, 252);
    d.pass(1);
    CHECK(d.node("rapl") == "320.0");
    blamed = "either both lack a supply, or the counters of memory count too much";
  }
  SUBCASE("the packages alone say more, too: the two are wrong") {
    d.parts(320);
    d.meters(250, 252);
    d.pass(1);
    blamed = "a supply may be missing in the sum";
  }
  SUBCASE("the two do not agree well") {
    d.has_psys();
    d.parts(150);
    d.out.set(d.psys, 900.0);
    d.meters(400, 480);
    d.pass(1);
    blamed = "a supply may be missing in the sum";
  }
  CHECK(d.set_aside("dcmi", "below_parts") == "1");
  CHECK(d.set_aside("bmc", "below_parts") == "1");
  CHECK_MESSAGE(holds(d.host.limitation(), blamed), d.host.limitation());
  const bool two_agree = holds(blamed, "both lack");
  CHECK(holds(d.host.limitation(), "a supply may be missing in the sum") != two_agree);
}

TEST_CASE("DCMI and the supplies contradict each other: the lower one is set aside") {
  desk d;
  d.has_dcmi();
  d.has_supplies();
  d.parts(60);
  d.meters(300, 310);
  d.pass(10);
  CHECK(d.node("dcmi") == "300.0");
  SUBCASE("DCMI") {
    d.meters(150, 310);
    d.pass(59);
    CHECK(d.node("dcmi") == "150.0");
    d.pass(2);
    CHECK(d.node("bmc") == "310.0");
    CHECK(d.set_aside("dcmi", "below_other") == "1");
    CHECK(holds(d.host.limitation(), "dcmi said 150.0 W, less than the 310.0 W of bmc"));
    CHECK(holds(d.host.limitation(), "bmc-roles"));
    SUBCASE("the supplies fall silent: nobody can say that it fits") {
      for (const auto s : d.supply) d.out.set_absent(s, absence::no_data);
      d.pass(60);
      CHECK(d.node("bmc") == "no_data");
    }
    SUBCASE("the supplies are found to be hanging: they contradict nothing") {
      d.parts(120);
      d.pass(240);
      CHECK(d.set_aside("bmc", "stands_still") == "1");
      CHECK(d.set_aside("dcmi", "below_other") == "0");
    }
  }
  SUBCASE("the supplies") {
    d.meters(300, 150);  // the sum lacks one supply
    d.pass(61);
    CHECK(d.node("dcmi") == "300.0");
    CHECK(d.set_aside("bmc", "below_other") == "1");
    d.meters(300, 290);
    d.pass(31);
    CHECK(d.set_aside("bmc", "below_other") == "0");
  }
  SUBCASE("not for what supplies lose, nor for the steps of their sensors") {
    d.meters(300, 370);
    d.pass(100);
    CHECK(d.node("dcmi") == "300.0");
    CHECK(d.host.limitation().empty());
  }
}

// Before, the supplies' 190 W were the node's for the rest of their minute.
TEST_CASE("a source that contradicts already is not begun with when another one is set aside") {
  desk d;
  d.has_dcmi();
  d.has_supplies();
  d.parts(160);
  d.meters(300, 300);
  d.pass(10);
  CHECK(d.node("dcmi") == "300.0");
  d.parts(240);
  d.meters(300, 190);
  d.pass(30);
  d.meters(0, 190);
  d.pass(1);
  CHECK(d.set_aside("dcmi", "zero") == "1");
  CHECK(d.node("dcmi") == "implausible");
  CHECK(d.node("bmc") == "no such series");
  CHECK_FALSE(holds(d.host.limitation(), "to use bmc"));
  SUBCASE("and later it is set aside") {
    d.pass(60);
    CHECK(d.set_aside("bmc", "below_parts") == "1");
    CHECK(d.node("bmc") == "no such series");
  }
  SUBCASE("or it agrees") {
    d.meters(0, 310);
    d.pass(1);
    CHECK(d.node("bmc") == "310.0");
  }
}

// Before, host_power_watts was `missing`, and the status of `host` said that DCMI has no value and that a
// restart helps.
TEST_CASE("the source that counted comes back with a number that contradicts another one") {
  desk d;
  d.has_dcmi();
  d.parts(150);
  d.out.set(d.dcmi, 240.0);
  d.pass(10);
  CHECK(d.node("dcmi") == "240.0");
  d.out.set_absent(d.dcmi, absence::no_data);  // the BMC is reset
  d.pass(20);
  CHECK(d.node("dcmi") == "no_data");
  d.out.set(d.dcmi, 80.0);  // and its mean begins low
  d.pass(1);
  CHECK(d.node("dcmi") == "implausible");
  CHECK(d.out.series()[d.dcmi].reason == absence::none);  // nobody knows yet
  CHECK(holds(d.host.limitation(), "dcmi contradicts rapl: dcmi counts when the two agree"));
  CHECK_FALSE(holds(d.host.limitation(), "restart"));
  SUBCASE("and agrees before its minute is over") {
    d.pass(50);
    CHECK(d.node("dcmi") == "implausible");
    d.out.set(d.dcmi, 240.0);
    d.pass(1);
    CHECK(d.node("dcmi") == "240.0");
    CHECK(d.host.limitation().empty());
  }
  SUBCASE("and does not agree: it is set aside") {
    d.pass(60);
    CHECK(d.set_aside("dcmi", "below_parts") == "1");
    CHECK_FALSE(holds(d.host.limitation(), "when the two agree"));
  }
}

// The sensor that is called the system's may be that of a network card, or stand at a small number. Without
// RAPL and DCMI nothing else showed it, and the node won every placement by lowest watts.
TEST_CASE("a sensor of the system that says a fifth of what the supplies draw is not believed") {
  desk d;
  const auto system = d.has_system_sensor("Rack Total");
  d.has_supplies("supply");
  d.out.remove_group(d.rapl);
  const auto say = [&](double whole, double each) {
    d.out.set(system, whole);
    for (const auto s : d.supply) d.out.set(s, each);
  };
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) d.tick({d.bmc});
  };
  SUBCASE("from the start: the supplies count") {
    say(21, 200);
    pass(20);
    CHECK(d.node("supplies") == "400.0");
    CHECK(d.set_aside("bmc", "below_other") == "1");
    CHECK(holds(d.host.limitation(), "bmc (\"Rack Total\") said 21.0 W, less than the 400.0 W of supplies"));
    CHECK(holds(d.host.limitation(), "bmc-roles"));
    say(390, 200);
    pass(60);
    CHECK(d.node("bmc") == "390.0");
    CHECK(d.host.limitation().empty());
  }
  SUBCASE("later: after a minute") {
    say(390, 200);
    pass(20);
    CHECK(d.node("bmc") == "390.0");
    say(14, 200);
    pass(80);
    CHECK(d.node("supplies") == "400.0");
  }
  SUBCASE("not because supplies feed the neighbour, too") {
    say(150, 300);
    pass(100);
    CHECK(d.node("bmc") == "150.0");
    CHECK(d.host.limitation().empty());
  }
  SUBCASE("not while psys, which may be all that RAPL has, speaks of the machine") {
    const auto platform = d.out.add_group("rapl", "", 1s, 10s);
    d.out.set(d.out.add_series(platform, "rapl_zone_power_watts", {{"zone", "psys"}}), 60.0);
    say(70, 200);
    for (int i = 0; i < 100; ++i) d.tick({d.bmc, platform});
    CHECK(d.node("bmc") == "70.0");
    CHECK(d.host.limitation().empty());
  }
  SUBCASE("also if one of the supplies is not believed itself") {
    d.out.set(system, 20.0);
    d.out.set(d.supply[0], 250.0);
    d.out.set_absent(d.supply[1], absence::implausible);
    pass(100);
    CHECK(d.node("bmc") != "20.0");
    CHECK(d.set_aside("bmc", "below_other") == "1");
  }
  SUBCASE("a supply that the sum lacks takes nothing from the sensor") {
    say(390, 100);
    pass(100);
    CHECK(d.node("bmc") == "390.0");
  }
}

// Before, the two that are right were set aside as lower, and DCMI's 32767 W were the node's.
TEST_CASE("a meter of the machine far above two others that agree is the one that is set aside") {
  desk d;
  d.has_dcmi();
  const auto system = d.has_system_sensor("System Power");
  d.has_supplies("supply");
  d.parts(180);
  const auto say = [&](double by_dcmi, double by_system, double by_supplies) {
    d.meters(by_dcmi, by_supplies);
    d.out.set(system, by_system);
  };
  const auto is_right = [&d](const char* way) {
    for (const char* why : {"below_other", "above_others"}) {
      const auto shown = d.set_aside(way, why);
      if (shown != "no such series" && shown != "0") return false;
    }
    return true;
  };
  SUBCASE("DCMI, from the start") {
    say(32767, 405, 420);
    d.pass(1);
    CHECK(d.set_aside("dcmi", "above_others") == "1");
    CHECK(holds(d.host.limitation(), "dcmi said 32767.0 W, more than five times the 420.0 W"));
    d.pass(120);
    CHECK(d.node("bmc") == "405.0");
    CHECK(is_right("bmc"));
    say(410, 405, 420);
    d.pass(60);
    CHECK(d.node("dcmi") == "410.0");
    CHECK(d.host.limitation().empty());
  }
  SUBCASE("DCMI, later after a minute") {
    say(410, 405, 420);
    d.pass(10);
    say(32767, 405, 420);
    d.pass(60);
    CHECK(d.node("dcmi") == "32767.0");
    d.pass(20);
    CHECK(d.node("bmc") == "405.0");
    CHECK(is_right("bmc"));
  }
  SUBCASE("the sensor of the system") {
    say(410, 32767, 420);
    d.pass(120);
    CHECK(d.node("dcmi") == "410.0");
    CHECK(is_right("dcmi"));
    CHECK(d.set_aside("bmc", "above_others") == "1");
  }
  SUBCASE("not by less, which a supply that both lack may be") {
    say(1000, 405, 420);
    d.pass(1);
    CHECK(d.node("dcmi") == "1000.0");
    CHECK(d.set_aside("bmc", "below_other") == "1");
  }
  SUBCASE("not if the two do not agree") {
    say(4000, 300, 420);
    d.pass(1);
    CHECK(d.node("dcmi") == "4000.0");
  }
  SUBCASE("not if the two are not believed themselves") {
    say(2000, 150, 152);
    d.pass(2);
    CHECK(d.node("dcmi") == "2000.0");
    CHECK(is_right("dcmi"));
  }
}

// Before, the supplies' verdict stayed for ever, because nobody asked them any more.
TEST_CASE("supplies that said a true sensor of the system is too low are not asked once RAPL has a value") {
  desk d;
  const auto system = d.out.add_series(
      d.bmc, "bmc_power_watts", {{"sensor", "Sys Power"}, {"entity", "x"}, {"id", "1"}, {"scope", "node"}});
  const auto supply = d.out.add_series(
      d.bmc, "bmc_power_watts", {{"sensor", "PS1"}, {"entity", "x"}, {"id", "2"}, {"scope", "supply"}});
  d.out.set_absent(d.package, absence::no_data);
  d.out.set_absent(d.memory, absence::no_data);
  d.out.set(system, 200.0);
  d.out.set(supply, 1200.0);
  d.pass(100);
  REQUIRE(d.set_aside("bmc", "below_other") == "1");
  d.parts(100);
  d.pass(60);
  CHECK(d.node("bmc") == "200.0");
  CHECK(d.set_aside("bmc", "below_other") == "0");
  CHECK(d.host.limitation().empty());
}

TEST_CASE("below another meter: the sentence names the other one's only sensor, which may be the wrong one") {
  desk d;
  d.has_dcmi();
  const auto system = d.has_system_sensor("Sys Pwr Allowed");
  d.parts(60);
  d.out.set(system, 1100.0);
  d.out.set(d.dcmi, 400.0);
  d.pass(1);
  CHECK(d.set_aside("dcmi", "below_other") == "1");
  CHECK(holds(d.host.limitation(),
              "less than the 1100.0 W of bmc (\"Sys Pwr Allowed\"), which measures the same"));
}

// Before, the true 250 W of PS1 were withheld, and the status of `host` had a sentence for ever, on a machine
// whose figure was right.
TEST_CASE("supplies beside a sensor of the system: what their sum lacks is no fault of theirs") {
  desk d;
  const auto system = d.has_system_sensor("System Power");
  d.has_supplies("supply");
  d.parts(160);
  d.out.set(system, 500.0);
  d.out.set(d.supply[0], 250.0);
  const char* why = "below_other";
  SUBCASE("PS2 shows no watts") { d.out.set_absent(d.supply[1], absence::no_data); }
  SUBCASE("PS2 says what no supply draws, which its own source withholds") {
    d.out.set_absent(d.supply[1], absence::implausible);
    why = "zero";
  }
  d.pass(130);
  CHECK(d.node("bmc") == "500.0");
  CHECK(d.out.series()[d.supply[0]].reason == absence::none);
  CHECK(d.host.limitation().empty());
  CHECK(d.set_aside("supplies", why) == "no such series");
  d.out.set_absent(system, absence::no_data);  // now the supplies are missed
  d.pass(20);
  CHECK(d.node("bmc") == "no_data");
  CHECK(d.set_aside("supplies", why) == "1");
  CHECK(d.out.series()[d.supply[0]].reason == absence::none);
}

// Before, PS3 and PS4 took the sum away for ever, and after a minute the packages' 180 W were the node's.
TEST_CASE("bays without a supply: the sum of the others counts after a minute, checked as any other") {
  desk d;
  d.has_supplies();
  board::series_ref bay[2] = {board::no_series, board::no_series};
  for (const char* name : {"PS3", "PS4"})
    bay[name[2] - '3'] = d.out.add_series(
        d.bmc, "bmc_power_watts", {{"sensor", name}, {"entity", "x"}, {"id", name}, {"scope", "node"}});
  d.parts(160, 20);
  const auto first_readings = [&](double first, double second) {
    d.out.set(d.supply[0], first);
    d.out.set(d.supply[1], second);
    for (const auto s : bay) d.out.set_absent(s, absence::no_data);
  };
  SUBCASE("from the start") {
    first_readings(200, 220);
    d.pass(60);
    CHECK(d.node("bmc") == "no_data");
    CHECK(d.node("rapl") == "no such series");
    d.pass(1);
    CHECK(d.node("bmc") == "420.0");
    CHECK(holds(d.host.limitation(), "without PS3, PS4, which have given no reading"));
    SUBCASE("a supply is put in, and dies") {
      d.out.set(bay[0], 90.0);
      d.pass(1);
      CHECK(d.node("bmc") == "510.0");
      CHECK(holds(d.host.limitation(), "without PS4, which has given no reading"));
      d.out.set_absent(bay[0], absence::no_data);
      d.pass(75);
      CHECK(d.node("bmc") == "no_data");
      CHECK(d.node("rapl") == "no such series");
      CHECK(holds(d.host.limitation(), "id=\"PS3\"} gives no reading any more"));
      CHECK_FALSE(holds(d.host.limitation(), "to use rapl"));
      host_source again(host_options{.period = 1s}, d.clock.source());  // as the sentence says
      for (int i = 0; i < 61; ++i) {
        d.clock.now += 1s;
        for (const auto g : {d.rapl, d.bmc}) d.out.mark_read(g, d.clock.now);
        REQUIRE(again.read(d.out));
        CHECK(d.node("rapl") == "no such series");
      }
      CHECK(d.node("bmc") == "420.0");
    }
  }
  SUBCASE("the BMC is read late: the packages do not count meanwhile") {
    d.pass(30);
    first_readings(200, 220);
    d.pass(60);
    CHECK(d.node("bmc") == "no_data");
    CHECK(d.node("rapl") == "no such series");
    d.pass(1);
    CHECK(d.node("bmc") == "420.0");
  }
  SUBCASE("a supply that does not answer is none") {
    first_readings(200, 220);
    d.out.set_absent(bay[1], absence::timeout);
    d.pass(61);
    CHECK(d.node("rapl") == "180.0");
    d.pass(60);
    CHECK(d.node("bmc") == "no such series");
  }
  SUBCASE("a supply that had one reading is none, though the others came later") {
    d.out.set(d.supply[0], 200.0);
    d.pass(1);
    d.out.set_absent(d.supply[0], absence::no_data);
    d.out.set(d.supply[1], 220.0);
    for (const auto s : bay) d.out.set_absent(s, absence::no_data);
    d.pass(120);
    CHECK(d.node("bmc") == "no such series");
    CHECK(d.node("rapl") == "180.0");
  }
  SUBCASE("less than the packages and memory: a bay is not empty after all") {
    first_readings(50, 60);
    d.pass(61);
    CHECK(d.set_aside("bmc", "below_parts") == "1");
    CHECK(d.node("rapl") == "180.0");
  }
}

TEST_SUITE_END();

}  // namespace plausibility_other_meters_test
