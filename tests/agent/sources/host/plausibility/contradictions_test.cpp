// A source of host_power_watts that says 0 W, or less than a part of the machine or another meter of the same
// thing: the rows of "What is not believed" in agent/README.md that set a source aside.
#include "tests/agent/sources/host/plausibility/machines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace plausibility_contradictions_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace binnacle::agent::plausibility;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/sources/host/plausibility/contradictions");

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

TEST_CASE("psys below its packages and memory: never believed from the first comparison on") {
  desk d;
  d.has_psys();
  d.parts(150);
  d.out.set(d.psys, 12.0);
  d.pass(1);
  CHECK(d.node("rapl") == "160.0");
  CHECK(d.node("psys") == "no such series");
  CHECK(d.set_aside("psys", "below_parts") == "1");
  CHECK(d.out.series()[d.psys].reason == absence::implausible);
  CHECK(holds(d.host.limitation(), "psys said 12.0 W, less than the 160.0 W"));
  SUBCASE("half a minute after it fits it is shown again, and counts when it has stayed") {
    for (int i = 0; i < 31; ++i) {
      d.out.set(d.psys, 210.0);  // its source sets it even while it is withheld
      CHECK(d.out.series()[d.psys].reason == absence::implausible);
      d.pass(1);
    }
    CHECK(d.out.series()[d.psys].reason == absence::none);
    CHECK(d.set_aside("psys", "below_parts") == "0");
    CHECK(d.host.limitation().empty());
    d.pass(11);
    CHECK(d.node("psys") == "210.0");
  }
  SUBCASE("with RAPL gone nobody can say that it fits") {
    d.out.set(d.psys, 210.0);
    d.out.set_absent(d.package, absence::no_data);
    d.out.set_absent(d.memory, absence::no_data);
    d.pass(120);
    CHECK(d.out.series()[d.psys].reason == absence::implausible);
    CHECK(d.node("rapl") == "no_data");
  }
}

TEST_CASE(
    "psys below its packages and memory: 10 s of it for one that was believed, noise and steps are none") {
  desk d;
  d.has_psys();
  d.parts(100);
  d.out.set(d.psys, 150.0);
  d.pass(2);
  CHECK(d.node("psys") == "150.0");
  SUBCASE("within 10 % and 5 W for ever") {
    d.out.set(d.psys, 94.5);  // 110 * 0.9 - 5 = 94
    d.pass(100);
    CHECK(d.node("psys") == "94.5");
  }
  SUBCASE("far below for nine seconds, again and again") {
    for (int i = 0; i < 20; ++i) {
      d.out.set(d.psys, 60.0);
      d.pass(9);
      CHECK(d.node("psys") == "60.0");
      d.out.set(d.psys, 150.0);
      d.pass(1);
    }
    CHECK(d.node("psys") == "150.0");
  }
  SUBCASE("far below for longer") {
    d.out.set(d.psys, 60.0);
    d.pass(11);
    CHECK(d.node("psys") == "implausible");
    CHECK(d.node("rapl") == "no such series");
  }
  SUBCASE("one package that has no value does not hide it") {
    const auto other = d.out.add_series(d.rapl, "rapl_power_watts", {{"package", "1"}});
    d.out.set_absent(other, absence::stands_still);
    d.out.set(d.psys, 60.0);
    d.pass(11);
    CHECK(d.set_aside("psys", "below_parts") == "1");
    CHECK(d.node("psys") == "implausible");  // no other way has a value
  }
}

TEST_CASE("below RAPL: supplies and DCMI are set aside after a minute, since a BMC's mean comes late") {
  desk d;
  const char* way = "dcmi";
  const auto say = [&](double watts) {
    if (d.dcmi != board::no_series) return d.out.set(d.dcmi, watts);
    for (const auto s : d.supply) d.out.set(s, watts / 2);
  };
  SUBCASE("DCMI") { d.has_dcmi(); }
  SUBCASE("the sum of the supplies") {
    d.has_supplies();
    way = "bmc";
  }
  d.parts(60);
  say(180);
  d.pass(10);
  CHECK(d.node(way) == "180.0");
  d.parts(300);  // a step of the load
  d.pass(59);
  CHECK(d.node(way) == "180.0");
  say(420);
  d.pass(10);
  say(180);  // from now on it is wrong
  d.pass(61);
  CHECK(d.node(way) == "implausible");
  CHECK(d.node("rapl") == "no such series");
  CHECK(d.set_aside(way, "below_parts") == "1");
  say(420);
  d.pass(60);
  CHECK(d.node(way) == "420.0");
  CHECK(d.set_aside(way, "below_parts") == "0");
}

/// With a meter of the whole machine: "dcmi", or "bmc" for the sum of two supplies.
struct metered : desk {
  explicit metered(const char* source) : way(source) {
    if (std::string_view(way) == "dcmi") {
      has_dcmi();
    } else {
      has_supplies();
    }
  }
  void say(double watts) {
    if (dcmi != board::no_series) return out.set(dcmi, watts);
    for (const auto s : supply) out.set(s, watts / 2);
  }
  std::string said() { return node(way); }

  const char* way;
};

/// RAPL and the meter agree for long enough.
struct agreed : metered {
  explicit agreed(const char* source) : metered(source) {
    parts(150);
    say(240);
    pass(200);
    CHECK(said() == "240.0");
  }
};

/// RAPL has had no value yet, and the meter says 60 W.
struct started : metered {
  explicit started(const char* source) : metered(source) {
    for (const auto s : {package, memory}) out.set_absent(s, absence::not_read_yet);
    say(60);
    pass(2);
    CHECK(said() == "not_read_yet");
    CHECK(host.limitation().empty());
  }
};

// Before, the 8 W of a sensor that had died were the node's for a minute, and every pod of that minute went
// there.
TEST_CASE("below RAPL by far: a meter of the machine that collapses is set aside at once") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    agreed d(way);
    d.say(8);
    d.pass(1);
    CHECK(d.said() == "implausible");
    CHECK(d.node("rapl") == "no such series");
    CHECK(d.set_aside(way, "below_parts") == "1");
    d.say(240);
    d.pass(60);
    CHECK(d.said() == "240.0");
  }
}

TEST_CASE("below RAPL by far: a number that an idle machine may have counts for a minute") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    agreed d(way);
    d.say(40);
    d.pass(59);
    CHECK(d.said() == "40.0");
  }
}

TEST_CASE("below RAPL by far: the load falls and rises, and the meter comes a minute late") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    agreed d(way);
    d.parts(8, 4);
    d.pass(60);
    d.say(45);
    d.pass(300);
    d.parts(500);
    d.pass(59);
    CHECK(d.said() == "45.0");
    d.say(620);
    d.pass(300);
    d.parts(8, 4);
    d.pass(60);
    d.say(45);
    d.pass(60);
    CHECK(d.said() == "45.0");
    CHECK(d.host.limitation().empty());
  }
}

TEST_CASE("below RAPL by far: after a gap of RAPL a minute, since nobody knows what the processors drew") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    agreed d(way);
    for (const auto s : {d.package, d.memory}) d.out.set_absent(s, absence::gap);
    d.pass(1);
    d.parts(150);
    d.say(8);
    d.pass(60);
    CHECK(d.said() == "8.0");
    d.pass(1);
    CHECK(d.said() == "implausible");
  }
}

// Before, DCMI's 60 W counted for two seconds after each start of the agent. Then they were set aside, and
// the node had no watts until the next start.
TEST_CASE("below RAPL at the start: no meter of the machine counts before RAPL has had a value") {
  for (const char* way : {"dcmi", "bmc"}) {
    CAPTURE(way);
    started low(way);
    low.parts(150);
    low.pass(1);
    CHECK(low.node("rapl") == "160.0");
    CHECK(low.set_aside(way, "below_parts") == "1");

    started right(way);
    right.parts(30);
    right.pass(1);
    CHECK(right.said() == "60.0");

    // RAPL may not be read, or never counts, as in many guests.
    for (const absence why : {absence::permission, absence::never_moved}) {
      started d(way);
      for (const auto s : {d.package, d.memory}) d.out.set_absent(s, why);
      d.pass(1);
      CHECK(d.said() == "60.0");
    }

    // Not for longer than power-wait.
    started d(way);
    d.pass(58);
    CHECK(d.said() == "not_read_yet");
    d.pass(1);
    CHECK(d.said() == "60.0");
    d.out.set_absent(d.package, absence::gap);  // and later not at all
    d.pass(1);
    CHECK(d.said() == "60.0");
  }
}

// Before, DCMI's 150 W beside psys' 300 W were believed, because they were compared only with the packages'
// 120 W.
TEST_CASE("below psys: supplies and DCMI are set aside, since the platform is a part of the machine") {
  desk d;
  const char* way = "dcmi";
  d.has_psys();
  SUBCASE("DCMI") { d.has_dcmi(); }
  SUBCASE("the sum of the supplies") {
    d.has_supplies();
    way = "bmc";
  }
  const auto say = [&](double watts) {
    if (d.dcmi != board::no_series) return d.out.set(d.dcmi, watts);
    for (const auto s : d.supply) d.out.set(s, watts / 2);
  };
  d.parts(110);
  d.out.set(d.psys, 300.0);
  say(150);
  d.pass(1);
  CHECK(d.node("psys") == "300.0");
  CHECK(d.set_aside(way, "below_parts") == "1");
  CHECK(holds(d.host.limitation(), "less than the 300.0 W of the platform (psys)"));
  d.out.set_absent(d.psys, absence::stands_still);  // without psys nobody can say that it agrees
  d.pass(60);
  CHECK(d.node("psys") == "stands_still");
  CHECK(d.set_aside(way, "below_parts") == "1");
  d.out.set(d.psys, 20.0);  // a psys that is not believed itself does not count
  d.pass(11);
  CHECK(d.set_aside("psys", "below_parts") == "1");
  d.pass(50);
  CHECK(d.node(way) == "150.0");
  CHECK(d.set_aside(way, "below_parts") == "0");
}

// Before, the sentence blamed the BMC alone, and advised to restart the agent to use psys.
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

TEST_CASE("hwmon below RAPL: the sensors that power-sensors names lack something") {
  desk d;
  const auto chips = d.out.add_group("os", "chip", 10s, 30s);
  const auto sensor = d.out.add_series(chips, "os_hwmon_power_watts",
                                       {{"chip", "ina3221-i2c-1-40"}, {"sensor", "CPU power"}});
  host_source told(host_options{.period = 1s, .powers = {"CPU power"}}, d.clock.source());
  d.parts(150);
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      d.clock.now += 1s;
      for (const auto g : {d.rapl, chips}) d.out.mark_read(g, d.clock.now);
      REQUIRE(told.read(d.out));
    }
  };
  d.out.set(sensor, 90.0);
  pass(1);
  CHECK(d.node("rapl") == "160.0");
  CHECK(d.set_aside("hwmon", "below_parts") == "1");
  CHECK(d.out.series()[sensor].reason == absence::implausible);
  CHECK(holds(told.limitation(), "a sensor may be missing in power-sensors"));
  d.out.set(sensor, 170.0);
  pass(31);
  CHECK(d.set_aside("hwmon", "below_parts") == "0");
  CHECK(d.out.series()[sensor].reason == absence::none);
}

// Before, two sockets of two dies were four packages, 600 W, and a true DCMI was never believed again.
TEST_CASE("below parts: dies that each show their socket's counter do not set a true DCMI aside") {
  std::vector<zone_spec> dies;
  for (const char* name : {"package-0-die-0", "package-0-die-1", "package-1-die-0", "package-1-die-1"})
    dies.push_back({.name = name, .range_uj = 65'532'610'987});
  machine m(dies, 150);
  m.sys.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
  const auto bmc = m.out.add_group("bmc", "dcmi.power", 5s, 15s);
  const auto dcmi = m.out.add_series(bmc, "bmc_dcmi_power_watts", {});
  m.begin();
  for (int second = 0; second < 90; ++second) {
    m.out.set(dcmi, 420.0);
    m.out.mark_read(bmc, m.clock.now);
    m.pass(1s);
  }
  CHECK(m.package("0") == "150.0");
  CHECK(m.package("1") == "150.0");
  CHECK(m.node("dcmi") == "420.0");
  CHECK(m.out.series()[dcmi].reason == absence::none);
}

// Before, a policy on DCMI's mean or on the platform's energy got the number that host_power_watts refused.
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

}  // namespace plausibility_contradictions_test
