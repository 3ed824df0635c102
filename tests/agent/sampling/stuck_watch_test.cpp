#include "agent/sampling/stuck_watch.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>

namespace stuck_watch_test {

using namespace binnacle;
using agent::stuck_watch;
using namespace std::chrono_literals;

namespace {

using value = std::optional<std::int64_t>;

/// Sensors that are read every five seconds. `at` gives each sensor's value at a look, or nothing.
struct bench {
  stuck_watch watch;
  instant now{1h};
  std::set<std::string> witnessed{"watts"};
  std::function<std::optional<double>(int)> load = [](int) { return std::optional<double>(0.1); };
  int looks = 0;

  void pass(duration span, const std::string& kind, std::size_t sensors,
            const std::function<value(std::size_t, int)>& at) {
    for (const auto until = now + span; now < until; now += 5s, ++looks) {
      std::vector<stuck_watch::reading> all;
      for (std::size_t i = 0; i < sensors; ++i)
        all.push_back({static_cast<std::uint32_t>(i), kind, at(i, looks), now});
      watch.look(all, load(looks), witnessed, now);
    }
  }
};

}  // namespace

TEST_SUITE_BEGIN("agent/sampling/stuck_watch");

TEST_CASE("a sensor that stays the same while all others move is stuck, until it moves") {
  bench b;
  const auto hangs = [](std::size_t i, int look) {
    return value(i == 2 ? 410 : 300 + (look * 7 + 3 * i) % 40);
  };
  b.pass(10min, "celsius", 4, hangs);
  CHECK(b.watch.stuck().empty());  // the window is not over
  b.pass(5s, "celsius", 4, hangs);
  REQUIRE(b.watch.stuck().size() == 1);
  CHECK(b.watch.stuck().begin()->first == 2);
  CHECK(b.watch.stuck().begin()->second.value == 410);
  CHECK(b.watch.stuck().begin()->second.since == instant{1h});
  b.pass(1h, "celsius", 4, hangs);
  CHECK(b.watch.stuck().size() == 1);
  b.pass(5s, "celsius", 4, [](std::size_t, int look) { return value(300 + look % 40); });
  CHECK(b.watch.stuck().empty());
}

TEST_CASE("quantised temperatures of an idle machine are not stuck") {
  bench b;
  SUBCASE("all stay the same") {
    b.pass(3h, "celsius", 8, [](std::size_t i, int) { return value(300 + static_cast<std::int64_t>(i)); });
  }
  SUBCASE("the processors move by a degree or two") {
    b.pass(3h, "celsius", 8, [](std::size_t i, int look) { return value(i < 2 ? 300 + look % 3 : 280); });
  }
  SUBCASE("the processors move a lot, the air, the disks and the memory do not") {
    b.pass(3h, "celsius", 8, [](std::size_t i, int look) { return value(i < 4 ? 300 + look % 30 : 250); });
  }
  CHECK(b.watch.stuck().empty());
}

TEST_CASE("if one of two sockets hangs, the comparison with the other finds it") {
  bench b;
  b.pass(11min, "watts", 2, [](std::size_t i, int look) { return value(i == 0 ? 805 : 700 + look % 100); });
  CHECK(b.watch.stuck().contains(0));
  CHECK(b.watch.stuck().size() == 1);
}

TEST_CASE("a part that is off reads zero and an idle one moves by a step or two: neither sensor is stuck") {
  bench b;
  std::int64_t calm = 0;
  SUBCASE("off") { calm = 0; }
  SUBCASE("idle") { calm = 1; }
  b.pass(1h, "watts", 2, [calm](std::size_t i, int look) { return value(i == 0 ? calm : 700 + look % 100); });
  CHECK(b.watch.stuck().empty());
}

TEST_CASE("a sensor without peers is judged by the load, if that tells anything about it") {
  bench b;
  const auto same = [](std::size_t, int) { return value(2310); };
  SUBCASE("the load moves") {
    b.load = [](int look) { return std::optional<double>(look % 60 < 30 ? 0.05 : 0.8); };
    b.pass(11min, "watts", 1, same);
    CHECK(b.watch.stuck().size() == 1);
  }
  SUBCASE("the load stays where it is") {
    b.pass(1h, "watts", 1, same);
    CHECK(b.watch.stuck().empty());
  }
  SUBCASE("it is no measure of power") {
    b.load = [](int look) { return std::optional<double>(look % 60 < 30 ? 0.05 : 0.8); };
    b.pass(1h, "rpm", 1, same);
    CHECK(b.watch.stuck().empty());
  }
  SUBCASE("the load is unknown") {
    b.load = [](int) { return std::optional<double>(); };
    b.pass(1h, "watts", 1, same);
    CHECK(b.watch.stuck().empty());
  }
}

TEST_CASE("a sensor that misses readings now and then is stuck all the same") {
  bench b;
  b.pass(10min + 5s, "watts", 2, [](std::size_t i, int look) {
    return i == 0 ? (look % 6 == 5 ? value() : value(805)) : value(700 + look % 100);
  });
  CHECK(b.watch.stuck().contains(0));
}

TEST_CASE("a sensor that was absent for long, or read too seldom, is not judged") {
  bench b;
  const auto absent = [&](int from, int to) {
    b.pass(10min + 5s, "watts", 2, [=](std::size_t i, int look) {
      return i == 0 ? (look >= from && look < to ? value() : value(805)) : value(700 + look % 100);
    });
  };
  SUBCASE("absent for more than a minute") { absent(60, 73); }
  SUBCASE("absent at the end of the window") { absent(107, 120); }
  SUBCASE("absent at its begin") { absent(0, 13); }
  SUBCASE("read twice") {
    for (int look = 0; look < 130; ++look, b.now += 5s) {
      b.watch.look({{0, "watts", 805, instant{look < 60 ? 1h : 2h}}, {1, "watts", 700 + look % 100, b.now}},
                   {}, {}, b.now);
    }
  }
  CHECK(b.watch.stuck().empty());
}

TEST_CASE("a sensor that is gone is forgotten, and an id given to another sensor starts anew") {
  bench b;
  const auto hangs = [](std::size_t i, int look) { return value(i == 0 ? 805 : 700 + look % 100); };
  b.pass(11min, "watts", 2, hangs);
  REQUIRE(b.watch.stuck().contains(0));
  SUBCASE("another sensor of the same value") { b.pass(5s, "celsius", 2, hangs); }
  SUBCASE("none") { b.pass(5s, "watts", 0, hangs); }
  CHECK(b.watch.stuck().empty());
}

TEST_SUITE_END();

}  // namespace stuck_watch_test
