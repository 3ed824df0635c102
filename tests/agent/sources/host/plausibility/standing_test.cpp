// DCMI or the supplies say the same number while RAPL moves: "What is not believed" in agent/README.md.
#include "tests/agent/sources/host/plausibility/machines.hpp"

#include <doctest/doctest.h>

namespace plausibility_standing_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace binnacle::agent::plausibility;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/sources/host/plausibility/standing");

// Before, RAPL had to move by 40 W, which never happens on a node of 20 to 55 W.
TEST_CASE("stands still while RAPL moves: also on a small machine, and not for a few watts of a large one") {
  desk d;
  d.has_dcmi();
  const auto moves = [&](double from, double to) {
    d.parts(from, 0.1);
    d.pass(60);
    d.parts(to, 0.1);
    d.pass(105);
  };
  SUBCASE("a node of 45 W") {
    d.out.set(d.dcmi, 45.0);
    moves(9, 24);
    CHECK(d.node("dcmi") == "frozen");
    CHECK(d.set_aside("dcmi", "stands_still") == "1");
  }
  SUBCASE("the same node, a little busier: a BMC's sensor may have such steps") {
    d.out.set(d.dcmi, 45.0);
    moves(9, 16);
    CHECK(d.node("dcmi") == "45.0");
  }
  SUBCASE("as many watts are a twentieth of a large machine") {
    d.out.set(d.dcmi, 900.0);
    moves(90, 135);
    CHECK(d.node("dcmi") == "900.0");
  }
}

TEST_CASE(
    "stands still while RAPL moves: DCMI is set aside, its series left to `frozen`, and back when it moves") {
  desk d;
  d.has_dcmi();
  d.out.set(d.dcmi, 240.0);
  d.parts(60);
  d.pass(60);
  CHECK(d.node("dcmi") == "240.0");
  d.parts(160);
  d.pass(75);
  CHECK(d.node("dcmi") == "240.0");
  d.pass(30);
  CHECK(d.node("dcmi") == "frozen");
  CHECK(d.node("rapl") == "no such series");
  CHECK(d.set_aside("dcmi", "stands_still") == "1");
  CHECK(shown(d.out, "bmc_dcmi_power_watts") == "240.0");
  CHECK(holds(d.host.limitation(), "dcmi has said about 240.0 W"));
  d.out.set(d.dcmi, 320.0);
  d.pass(60);
  CHECK(d.node("dcmi") == "320.0");
}

TEST_CASE("stands still while RAPL moves: so it is with the sum of the supplies") {
  desk d;
  d.has_supplies();
  const auto say = [&d](double watts) {
    for (const auto s : d.supply) d.out.set(s, watts / 2);
  };
  say(240);
  d.parts(60);
  d.pass(60);
  CHECK(d.node("bmc") == "240.0");
  d.parts(160);
  d.pass(75);
  CHECK(d.node("bmc") == "240.0");
  d.pass(30);
  CHECK(d.node("bmc") == "frozen");
  CHECK(d.node("rapl") == "no such series");
  CHECK(d.set_aside("bmc", "stands_still") == "1");
  CHECK(holds(d.host.limitation(), "bmc has said about 240.0 W"));
  say(320);
  d.pass(60);
  CHECK(d.node("bmc") == "320.0");
  CHECK(d.set_aside("bmc", "stands_still") == "0");
}

// Before, RAPL without one of its parts did not count as moving, and DCMI's 400 W stood for ever.
TEST_CASE(
    "stands still while RAPL moves: also if a part of RAPL is dead, but not because one dies or comes") {
  desk d;
  d.has_dcmi();
  d.out.set(d.dcmi, 400.0);
  const auto other = d.out.add_series(d.rapl, "rapl_power_watts", {{"package", "1"}});
  d.parts(60);
  SUBCASE("dead from the start") {
    d.out.set_absent(other, absence::never_moved);
    d.pass(60);
    d.parts(180);
    d.pass(105);
    CHECK(d.node("dcmi") == "frozen");
    CHECK(d.set_aside("dcmi", "stands_still") == "1");
  }
  SUBCASE("dead after a while") {
    d.out.set(other, 100.0);
    d.pass(60);
    d.out.set_absent(other, absence::stands_still);
    d.pass(300);
    CHECK(d.node("dcmi") == "400.0");
    d.parts(180);
    d.pass(105);
    CHECK(d.node("dcmi") == "frozen");
  }
  SUBCASE("it comes") {
    d.out.set_absent(other, absence::gap);
    d.pass(60);
    d.out.set(other, 100.0);
    d.pass(300);
    CHECK(d.node("dcmi") == "400.0");
  }
  SUBCASE("it goes for seconds") {
    for (int i = 0; i < 30; ++i) {
      d.out.set(other, 100.0);
      d.pass(8);
      d.out.set_absent(other, absence::gap);
      d.pass(2);
    }
    CHECK(d.node("dcmi") == "400.0");
  }
  CHECK(d.out.series()[d.dcmi].reason == absence::none);
}

TEST_CASE("stands still while RAPL moves: not on an idle machine, not for spikes") {
  desk d;
  d.has_dcmi();
  d.out.set(d.dcmi, 240.0);
  SUBCASE("an idle machine") {
    for (int i = 0; i < 600; ++i) {
      d.parts(60 + i % 3);
      d.pass(1);
    }
  }
  SUBCASE("spikes of a second") {
    for (int i = 0; i < 600; ++i) {
      d.parts(i % 20 == 0 ? 200 : 60);
      d.pass(1);
    }
  }
  CHECK(d.node("dcmi") == "240.0");
  CHECK(d.host.limitation().empty());
}

// Before, one count of noise made such a DCMI believed for ever, although the busy machine drew 200 W more.
TEST_CASE("stands still while RAPL moves: also if the last digit goes to and fro, or drifts") {
  desk d;
  double (*says)(int) = nullptr;
  SUBCASE("by a watt") {
    says = [](int second) { return 300.0 + second % 2; };
  }
  SUBCASE("by some watts that are a thousandth of a large machine each") {
    says = [](int second) { return 1000.0 + second % 3 * 2; };
  }
  SUBCASE("slowly") {
    says = [](int second) { return 300 + 0.01 * second; };
  }
  d.has_dcmi();
  auto pass = [&, second = 0](int seconds) mutable {
    for (int i = 0; i < seconds; ++i) {
      d.out.set(d.dcmi, says(second++));
      d.pass(1);
    }
  };
  d.parts(60);
  pass(60);
  d.parts(260);
  pass(105);
  CHECK(d.node("dcmi") == "frozen");
  CHECK(d.set_aside("dcmi", "stands_still") == "1");
}

TEST_CASE("stands still while RAPL moves: so it is with supplies that each go to and fro") {
  desk d;
  d.has_supplies();
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      d.out.set(d.supply[0], 250.0 + i % 2);
      d.out.set(d.supply[1], i % 6 < 3 ? 254.0 : 255.0);
      d.pass(1);
    }
  };
  d.parts(60);
  pass(60);
  d.parts(260);
  pass(105);
  CHECK(d.node("bmc") == "frozen");
}

// What RAPL measures is a part of the machine, so a true meter moves about as much.
TEST_CASE("stands still while RAPL moves: not a meter that follows by a few watts, nor a minute late") {
  desk d;
  d.has_dcmi();
  d.out.set(d.dcmi, 45.0);
  d.parts(9, 0.1);
  d.pass(60);
  d.parts(18, 0.1);
  d.pass(60);
  d.out.set(d.dcmi, 52.0);
  d.pass(300);
  CHECK(d.node("dcmi") == "52.0");
  d.parts(27, 0.1);
  d.pass(60);
  d.out.set(d.dcmi, 59.0);
  d.pass(300);
  CHECK(d.node("dcmi") == "59.0");
  CHECK(d.host.limitation().empty());
}

TEST_CASE("stands still while RAPL moves: not a large machine that a power limit holds within some watts") {
  desk d;
  d.has_dcmi();
  const auto pass = [&d](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      d.out.set(d.dcmi, 3000.0 + 2 * (i % 10));
      d.pass(1);
    }
  };
  d.parts(250);
  pass(120);
  d.parts(560);
  pass(600);
  CHECK(d.node("dcmi") != "frozen");
}

// Before, it stayed set aside until the load moved.
TEST_CASE(
    "stands still while RAPL moves: a mended meter that says nearly what the dead one said is believed") {
  desk d;
  d.has_dcmi();
  d.out.set(d.dcmi, 240.0);
  d.parts(60);
  d.pass(60);
  d.parts(160);
  d.pass(105);
  REQUIRE(d.node("dcmi") == "frozen");
  d.out.set_absent(d.dcmi, absence::no_data);
  d.pass(150);
  d.out.set(d.dcmi, 241.0);
  d.pass(60);
  CHECK(d.node("dcmi") == "241.0");
  CHECK(d.host.limitation().empty());
}

// Before, the means of 20 s moved, and the BMC's mean of a minute was set aside as standing.
TEST_CASE("stands still while RAPL moves: not for a load that comes and goes each minute") {
  desk d;
  d.has_dcmi();
  d.out.set(d.dcmi, 240.0);
  for (int i = 0; i < 600; ++i) {
    d.parts(i % 60 < 20 ? 160 : 60);
    d.pass(1);
  }
  CHECK(d.node("dcmi") == "240.0");
  CHECK(d.host.limitation().empty());
}

TEST_SUITE_END();

}  // namespace plausibility_standing_test
