#include "agent/base/board.hpp"

#include "agent/sources/foreign_series.hpp"
#include "agent/uplink/feed.hpp"
#include "common/wire/codec/codec.hpp"
#include "tests/agent/support.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>

namespace board_test {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::shown;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("agent/board");

TEST_CASE("the same group and the same series are given out again without a new version") {
  board b;
  const auto g = b.add_group("rapl", "", 1s, 10s);
  const auto s = b.add_series(g, "rapl_power_watts", {{"package", "0"}});
  const auto version = b.version();
  CHECK(b.add_group("rapl", "", 1s, 10s) == g);
  CHECK(b.add_series(g, "rapl_power_watts", {{"package", "0"}}) == s);
  CHECK(b.version() == version);
  CHECK(b.add_series(g, "rapl_power_watts", {{"package", "1"}}) != s);
  CHECK(b.version() > version);
}

TEST_CASE("a family of METRICS.md brings its resolution, whatever the source says") {
  board b;
  const auto g = b.add_group("rapl", "", 1s, 10s);
  const auto s = b.add_series(g, "rapl_power_watts", {{"package", "0"}}, 5, metrics::kind::counter, "mine");
  CHECK(b.series()[s].info.exponent == -1);
  CHECK(b.series()[s].info.type == metrics::kind::gauge);
  CHECK(b.series()[s].info.help.empty());
  b.set(s, 123.456);
  CHECK(shown(b, "rapl_power_watts", {{"package", "0"}}) == "123.5");
}

TEST_CASE("series are told apart even if a label's value holds the characters that separate labels") {
  board b;
  const auto g = b.add_group("textfile", "a.prom", 1s, 10s);
  const auto one = b.add_series(g, "a", {{"x", "1\x1fy=2"}});
  const auto two = b.add_series(g, "a", {{"x", "1"}, {"y", "2"}});
  REQUIRE(one != board::no_series);
  CHECK(one != two);
  foreign_series first, second;
  first.labels = {{"x", "1\x1fy=2"}};
  second.labels = {{"x", "1"}, {"y", "2"}};
  CHECK(first.key() != second.key());
}

TEST_CASE("a reading from before the machine's start is not taken, and counted") {
  board b;
  const auto g = b.add_group("bmc", "", 1s, 10s);
  b.mark_read(g, from_ns(5));
  b.mark_read(g, from_ns(-1));
  CHECK(b.groups()[g].read_at == from_ns(5));
  REQUIRE(b.refused().size() == 1);
  CHECK(b.refused()[0].reason == "invalid");
}

TEST_CASE("a change number moves only when value or reason moves") {
  board b;
  const auto g = b.add_group("rapl", "", 1s, 10s);
  const auto s = b.add_series(g, "rapl_power_watts", {{"package", "0"}});
  b.set(s, 100.0);
  const auto changed = b.series()[s].changed;
  SUBCASE("the same number after rounding is no change") {
    b.set(s, 100.04);
    CHECK(b.series()[s].changed == changed);
  }
  SUBCASE("another number is a change") {
    b.set(s, 100.06);
    CHECK(b.series()[s].changed > changed);
  }
  SUBCASE("absence is a change, once") {
    b.set_absent(s, absence::missing);
    const auto absent = b.series()[s].changed;
    CHECK(absent > changed);
    b.set_absent(s, absence::missing);
    CHECK(b.series()[s].changed == absent);
  }
  SUBCASE("a read of the group refreshes the group alone") {
    b.mark_read(g, instant(5s));
    CHECK(b.series()[s].changed == changed);
    CHECK(b.groups()[g].changed > changed);
    CHECK(b.groups()[g].read_at == instant(5s));
  }
}

TEST_CASE("what is not a number is absent, never zero") {
  board b;
  const auto g = b.add_group("rapl", "", 1s, 10s);
  const auto s = b.add_series(g, "rapl_power_watts", {{"package", "0"}});
  b.set(s, 1.0);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -1e300}) {
    CAPTURE(bad);
    b.set(s, bad);
    CHECK(b.series()[s].reason == absence::out_of_range);
  }
}

TEST_CASE("a foreign series that outgrows its exponent is announced anew and settles") {
  board b;
  const auto g = b.add_group("textfile", "a.prom", 1s, 10s);
  const auto s = b.add_series(g, "my_value", {}, -9);
  b.set(s, 0.5);
  CHECK(shown(b, "my_value").substr(0, 3) == "0.5");
  auto version = b.version();
  b.set(s, 3e12);  // does not fit at 10^-9
  CHECK(b.version() > version);
  CHECK(to_double(b.series()[s].value) == 3e12);
  b.set(s, 0.5);
  b.set(s, 3e12);
  version = b.version();
  for (int i = 0; i < 10; ++i) {
    b.set(s, 0.5);
    b.set(s, 3e12);
  }
  CHECK(b.version() == version);
  b.set(s, 0.125);
  CHECK(to_double(b.series()[s].value) == 0.125);
}

// Before, a single `rack_watts 18446744073709551615` made every later reading 0.
TEST_CASE("a foreign series keeps nine digits of what it is now, whatever it was") {
  for (const double absurd : {18446744073709551615.0, -1e30, 1e-12}) {
    for (const double value : {120.0, 123456789.5, 0.00123456789, 1.5, 0.0}) {
      CAPTURE(absurd);
      CAPTURE(value);
      board b;
      const auto g = b.add_group("textfile", "rack.prom", 1s, 10s);
      const auto s = b.add_series(g, "rack_watts", {});
      b.set(s, absurd);
      b.set(s, value);
      REQUIRE(b.series()[s].reason == absence::none);
      CHECK(to_double(b.series()[s].value) == doctest::Approx(value).epsilon(6e-9));
    }
  }
}

TEST_CASE("a foreign value that no exponent holds is absent, never 0") {
  board b;
  const auto g = b.add_group("textfile", "a.prom", 1s, 10s);
  const auto s = b.add_series(g, "my_value", {});
  for (const double beyond : {1e-30, -1e-30, 1e40}) {
    CAPTURE(beyond);
    b.set(s, 1.0);
    b.set(s, beyond);
    CHECK(b.series()[s].reason == absence::out_of_range);
  }
  b.set(s, 0.0);
  CHECK(b.series()[s].reason == absence::none);
}

TEST_CASE(
    "a foreign series that jumps further than any exponent is wide is announced a bounded number of times") {
  board b;
  const auto g = b.add_group("textfile", "a.prom", 1s, 10s);
  const auto s = b.add_series(g, "my_value", {});
  const auto version = b.version();
  constexpr int jumps = 1000;
  for (int i = 0; i < jumps; ++i) {
    b.set(s, 1e18);
    CHECK(to_double(b.series()[s].value) == 1e18);
    b.set(s, 0.5);
    const auto& e = b.series()[s];
    CHECK((e.reason == absence::out_of_range || to_double(e.value) == 0.5));
  }
  CHECK(b.version() - version < jumps / 10);
  for (int i = 0; i < 100; ++i) b.set(s, 0.5);
  CHECK(to_double(b.series()[s].value) == 0.5);
}

// The difference of two nearly equal doubles is far smaller than either of them, but it is not 0.
TEST_CASE("a foreign series between its size and the rest of a subtraction always has a value") {
  board b;
  const auto g = b.add_group("textfile", "a.prom", 1s, 10s);
  const auto s = b.add_series(g, "my_value", {});
  for (int i = 0; i < 1000; ++i) {
    b.set(s, 50.3);
    CHECK(to_double(b.series()[s].value) == 50.3);
    b.set(s, 7.1e-15);
    CHECK(b.series()[s].reason == absence::none);
  }
}

TEST_CASE("our own series never change their exponent") {
  board b;
  const auto g = b.add_group("rapl", "", 1s, 10s);
  const auto s = b.add_series(g, "rapl_power_watts", {{"package", "0"}});
  const auto version = b.version();
  b.set(s, 1e30);
  CHECK(b.version() == version);
  CHECK(b.series()[s].reason == absence::out_of_range);
}

TEST_CASE("a label that hardware spelt wrongly does not cost the whole catalog") {
  board b;
  const auto g = b.add_group("os", "chip \xff", 1s, 10s);
  CHECK(b.groups()[g].info.name == "chip ?");
  const auto s = b.add_series(g, "os_hwmon_fan_speed_rpm", {{"chip", "a\xc3\xa9\xc3"}, {"sensor", "inlet"}});
  CHECK(b.series()[s].info.labels[0].second == "a\xc3\xa9?");
  CHECK(b.add_series(g, "os_hwmon_fan_speed_rpm", {{"chip", "a\xc3\xa9\xc3"}, {"sensor", "inlet"}}) == s);
}

TEST_CASE("removed series and groups give their places back and leave the others alone") {
  board b;
  const auto g = b.add_group("textfile", "a.prom", 1s, 10s);
  const auto h = b.add_group("textfile", "b.prom", 1s, 10s);
  const auto s = b.add_series(g, "a", {}, 0);
  const auto t = b.add_series(h, "b", {}, 0);
  b.set(t, std::int64_t{7});
  b.remove_group(g);
  CHECK(b.series()[s].removed);
  CHECK(b.groups()[g].removed);
  CHECK(b.live_series() == 1);
  CHECK(b.add_series(g, "late", {}, 0) == board::no_series);  // nor does one to a removed group
  CHECK(b.live_series() == 1);
  b.set(s, 1.0);  // a reference to a removed series does nothing
  CHECK(b.series()[s].removed);
  CHECK(shown(b, "b") == "7");
  const auto again = b.add_group("textfile", "c.prom", 1s, 10s);
  CHECK(again == g);
  CHECK(b.add_series(again, "c", {}, 0) == s);
  CHECK(shown(b, "c") == "not_read_yet");
}

// Before, one bad line in a user's file made the aggregator refuse all series of the node.
TEST_CASE("what the wire would not take is refused series by series, and the catalog stays good") {
  board b;
  const auto g = b.add_group("textfile", "x.prom", 1s, 10s);
  metrics::label_set many;
  for (int i = 0; i < 40; ++i) many.emplace_back("l" + std::to_string(i), "v");
  std::uint64_t refused = 0;
  const auto refuses = [&](std::string family, metrics::label_set labels) {
    CHECK(b.add_series(g, std::move(family), std::move(labels)) == board::no_series);
    CHECK(b.refusals() == ++refused);
    CHECK_FALSE(b.last_refusal().empty());
  };
  refuses("9lives", {});
  refuses("", {});
  refuses("a-b", {});
  refuses(std::string(256, 'a'), {});
  refuses("good", {{"bad-label", "x"}});
  refuses("good", {{"label", std::string(1025, 'x')}});
  refuses("good", {{"label", std::string("a\0b", 3)}});
  refuses("good", many);
  CHECK(b.last_refusal() == "40 labels at one series of good; at most 32 are allowed");
  REQUIRE(b.refused().size() == 1);
  CHECK(b.refused()[0].reason == "invalid");
  CHECK(b.refused()[0].count == refused);
  const auto s =
      b.add_series(g, "good", {{"label", "ü"}}, 0, metrics::kind::gauge, "help that is not UTF-8: \xff");
  REQUIRE(s != board::no_series);
  CHECK(b.series()[s].info.help.empty());
  const send_pace pace;
  feed f(b, pace);
  CHECK(wire::check(f.announce()).has_value());
}

TEST_CASE("names and labels have a bound in all, and what is removed makes room") {
  board b({.series = 100, .groups = 10, .bytes = 100});
  const auto g = b.add_group("textfile", "", 1s, 10s);
  const auto first = b.add_series(g, "a", {{"l", std::string(60, 'x')}});
  CHECK(b.add_series(g, "b", {{"l", std::string(60, 'x')}}) == board::no_series);
  CHECK(b.refused()[0].reason == "bound");
  b.remove_series(first);
  CHECK(b.add_series(g, "b", {{"l", std::string(60, 'x')}}) != board::no_series);
}

TEST_CASE("a series withheld has no value, whatever its source sets, and the newest when it is given free") {
  board b;
  const auto g = b.add_group("rapl", "", 1s, 10s);
  const auto s = b.add_series(g, "rapl_power_watts", {{"package", "0"}});
  b.set(s, 80.0);
  b.withhold(s, absence::frozen, true);
  CHECK(b.series()[s].reason == absence::frozen);
  CHECK(b.measured(s) == decimal{800, -1});
  const auto changed = b.series()[s].changed;
  b.set(s, 81.0);
  CHECK(b.series()[s].changed == changed);
  CHECK(b.measured(s) == decimal{810, -1});
  b.set_absent(s, absence::timeout);
  CHECK(b.series()[s].reason == absence::timeout);
  CHECK_FALSE(b.measured(s).has_value());
  b.set(s, 82.0);
  CHECK(b.series()[s].reason == absence::frozen);
  b.withhold(s, absence::implausible, true);
  b.withhold(s, absence::frozen, false);
  CHECK(b.series()[s].reason == absence::implausible);
  CHECK(b.measured(s) == decimal{820, -1});
  b.withhold(s, absence::implausible, false);
  CHECK(shown(b, "rapl_power_watts", {{"package", "0"}}) == "82.0");
}

TEST_CASE("a group's period may change, and is announced when it is new") {
  board b;
  const auto g = b.add_group("bmc", "20.0.1", 1s, 10s);
  const auto before = b.version();
  b.set_period(g, 1s, 10s);
  CHECK(b.version() == before);
  b.set_period(g, 60s, 180s);
  CHECK(b.version() == before + 1);
  CHECK(b.groups()[g].info.period_ms == 60'000);
  CHECK(b.groups()[g].info.stale_after_ms == 180'000);
  b.set_period(board::no_group, 1s, 1s);
  b.remove_group(g);
  b.set_period(g, 1s, 10s);
  CHECK(b.groups()[g].info.period_ms == 60'000);
}

TEST_CASE("beyond its bounds the board refuses and counts") {
  board b({.series = 2, .groups = 1});
  const auto g = b.add_group("textfile", "a.prom", 1s, 10s);
  CHECK(b.add_group("textfile", "b.prom", 1s, 10s) == board::no_group);
  b.add_series(g, "a", {}, 0);
  b.add_series(g, "b", {}, 0);
  const auto none = b.add_series(g, "c", {}, 0);
  CHECK(none == board::no_series);
  CHECK(b.add_series(board::no_group, "d", {}, 0) == board::no_series);
  REQUIRE(b.refused().size() == 1);
  CHECK(b.refused()[0].reason == "bound");
  CHECK(b.refused()[0].count == 2);
  b.set(none, 1.0);
  b.set_absent(none, absence::missing);
  b.remove_series(none);
  b.mark_read(board::no_group, instant(1s));
  CHECK(b.live_series() == 2);
}

TEST_CASE("a status is told once") {
  board b;
  b.set_status("rapl", false, "no such machine");
  const auto change = b.status_change();
  b.set_status("rapl", false, "no such machine");
  CHECK(b.status_change() == change);
  b.set_status("rapl", true, "");
  CHECK(b.status_change() > change);
  CHECK(b.statuses().size() == 1);
}

TEST_SUITE_END();

}  // namespace board_test
