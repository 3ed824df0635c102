#include "agent/sampling/stuck_sensors.hpp"

#include "tests/agent/support.hpp"

#include <doctest/doctest.h>

namespace stuck_sensors_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::holds;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

/// Two packages that are read once a second. The first one is stuck at 80.5 W, the second one moves.
struct bench {
  explicit bench(on_frozen what) : stuck(what) {}
  stuck_sensors stuck;
  board out;
  board::group_ref rapl = out.add_group("rapl", "", 1s, 10s);
  board::series_ref hangs = out.add_series(rapl, "rapl_power_watts", {{"package", "0"}});
  board::series_ref moves = out.add_series(rapl, "rapl_power_watts", {{"package", "1"}});
  board::series_ref tdp0 = out.add_series(rapl, "rapl_tdp_watts", {{"package", "0"}});
  board::series_ref tdp1 = out.add_series(rapl, "rapl_tdp_watts", {{"package", "1"}});
  instant now{1h};

  void pass(duration span, double first = 80.5) {
    for (const auto until = now + span; now < until; now += 1s) {
      const auto second = now.time_since_epoch() / 1s;
      out.set(hangs, first);
      out.set(moves, 60.0 + static_cast<double>(second % 100) / 10);
      out.set(tdp0, 205.0);
      out.set(tdp1, 200.0 + static_cast<double>(second % 10));
      out.mark_read(rapl, now);
      stuck.look(out, now);
    }
  }
  std::string watts() { return shown(out, "rapl_power_watts", {{"package", "0"}}); }
};

}  // namespace

TEST_SUITE_BEGIN("agent/sampling/stuck_sensors");

TEST_CASE("a sensor that hangs is counted and named, and keeps its value") {
  bench b(on_frozen::flag);
  b.pass(9min);
  CHECK(b.stuck.count("rapl") == 0);
  CHECK(b.stuck.sentence("rapl", b.out).empty());
  b.pass(2min);
  CHECK(b.stuck.count("rapl") == 1);  // and not the TDP, which is a setting
  CHECK(
      b.stuck.sentence("rapl", b.out) ==
      "rapl_power_watts{package=\"0\"} has read exactly 80.5 for more than 10 minutes while similar sensors "
      "moved: the "
      "sensor is stuck");
  CHECK(b.watts() == "80.5");
  b.pass(10s, 81.0);
  CHECK(b.stuck.count("rapl") == 0);
}

TEST_CASE("if asked for, a sensor that hangs has no value until it moves") {
  bench b(on_frozen::absent);
  b.pass(11min);
  CHECK(b.watts() == "frozen");
  CHECK(shown(b.out, "rapl_power_watts", {{"package", "1"}}) != "frozen");
  b.pass(20min);
  CHECK(b.watts() == "frozen");
  CHECK(b.stuck.count("rapl") == 1);
  b.pass(10s, 90.0);
  CHECK(b.watts() == "90.0");
  CHECK(b.stuck.count("rapl") == 0);
}

// Before, the chip's two sensors were each other's peers, and none of them moved.
TEST_CASE("a hwmon chip of the processors that hangs as a whole is found by the CPU load") {
  stuck_sensors stuck(on_frozen::flag);
  board out;
  const auto os = out.add_group("os", "all", 5s, 15s);
  const auto chip = [&](const char* name, const char* sensor) {
    return out.add_series(os, "os_hwmon_power_watts", {{"chip", name}, {"sensor", sensor}});
  };
  const auto load = out.add_series(os, "os_cpu_utilization_ratio", {});
  const auto cpu = chip("apm_xgene-APMC0D29:00", "CPU power"), io = chip("apm_xgene-APMC0D29:00", "IO power");
  const auto first = chip("mlx5-0000:01:00.0", "card"), second = chip("mlx5-0000:02:00.0", "card");
  instant now{1h};
  const auto pass = [&](double busy, bool hangs) {
    for (int look = 0; look < 132; ++look, now += 5s) {  // eleven minutes
      const double share = look % 20 < 10 ? 0.05 : busy;
      out.set(load, share);
      out.set(cpu, hangs ? 75.5 : 40 + 100 * share + look % 10);
      out.set(io, hangs ? 31.2 : 30 + 5 * share + 0.1 * (look % 10));
      for (const auto card : {first, second}) out.set(card, 21.0);
      out.mark_read(os, now);
      stuck.look(out, now);
    }
  };
  SUBCASE("the load moves") {
    pass(0.8, true);
    CHECK(stuck.count("os") == 2);
    CHECK(holds(stuck.sentence("os", out), "apm_xgene"));
    pass(0.8, false);
    CHECK(stuck.count("os") == 0);
  }
  SUBCASE("the load stays where it is") {
    pass(0.1, true);
    CHECK(stuck.count("os") == 0);
  }
  SUBCASE("calm cards beside a chip that moves are not judged by it") {
    pass(0.8, false);
    CHECK(stuck.count("os") == 0);
  }
}

TEST_SUITE_END();

}  // namespace stuck_sensors_test
