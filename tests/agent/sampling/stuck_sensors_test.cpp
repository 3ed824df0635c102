#include "agent/sampling/stuck_sensors.hpp"

#include "tests/agent/support.hpp"

#include <doctest/doctest.h>

namespace stuck_sensors_test {

using namespace binnacle;
using namespace binnacle::agent;
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

TEST_SUITE_END();

}  // namespace stuck_sensors_test
