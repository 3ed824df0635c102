#include "aggregator/policy/engine/engine.hpp"
#include "tests/aggregator/policy/world.hpp"

namespace engine_time_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace binnacle::policy::test;

TEST_SUITE("aggregator/policy/engine/time") {
  TEST_CASE("defect_16_a_value_ages_out_by_itself") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    w.value('a', "temp", 90, 10s);
    REQUIRE(w.e.next_deadline().has_value());
    w.at(9'999ms);
    CHECK(w.what('a') == state::violating);
    w.at(10s);
    CHECK(w.what('a') == state::pass);
    CHECK(w.of('a').unknown == 1);
  }

  TEST_CASE("a value that does not change but is read again stays") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    for (int s = 0; s < 60; ++s) {
      w.at(std::chrono::seconds(s));
      w.value('a', "temp", 90, 10s);
    }
    CHECK(w.what('a') == state::violating);
    CHECK(w.e.deadlines_under_way() <= 2);
    w.at(68'999ms);
    CHECK(w.what('a') == state::violating);
    w.at(69s);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE("values that expire earlier and earlier leave no more deadlines behind than a bound") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    std::size_t most = 0;
    for (int i = 0; i < 5'000; ++i) {
      w.value('a', "temp", 90, 24h - i * 1ms);
      most = std::max(most, w.e.deadlines_under_way());
    }
    CHECK(most > 1'000);
    CHECK(most < 1'100);
    w.at(24h - 5'000ms);
    CHECK(w.what('a') == state::violating);
    w.at(24h - 4'999ms);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE("values whose ends go to and fro leave no more deadlines behind than a bound") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    std::size_t most = 0;
    for (int i = 0; i < 500; ++i) {
      for (char n = 'a'; n <= 'j'; ++n) {
        w.value(n, "temp", 90, 1ms);
        w.value(n, "temp", 90, 24h - w.time());
        w.at(w.time() + 1ms);  // the node's deadline is for the 24th hour again
        most = std::max(most, w.e.deadlines_under_way());
      }
    }
    CHECK(most > 1'000);
    CHECK(most < 1'100);
    w.at(24h - 1ms);
    CHECK(w.what('a') == state::violating);
    w.at(24h);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE("a shorter life than the one before counts at once") {
    world w;
    w.apply(manifest({{"dontschedule", rules(hot)}}));
    w.value('a', "temp", 90, 60s);
    w.at(1s);
    w.value('a', "temp", 90, 2s);
    w.at(3s);
    CHECK(w.what('a') == state::pass);
  }

  TEST_CASE("staleAfter of a rule replaces the metric's own, for that rule") {
    world w;
    w.apply(manifest({{"dontschedule",
                       rules("{metricname: temp, operator: GreaterThan, target: 80, staleAfter: 3s}")}}) +
            "---\n" +
            manifest({{"dontschedule",
                       rules("{metricname: temp, operator: GreaterThan, target: 80, staleAfter: 1h}")}},
                     "long") +
            "---\n" + manifest({{"dontschedule", rules(hot)}}, "own"));
    CHECK(w.columns.watches == 1);
    w.value('a', "temp", 90, 10s);
    w.at(3s);
    CHECK(w.what('a') == state::pass);
    CHECK(w.what('a', dont, "own") == state::violating);
    w.at(10s);
    CHECK(w.what('a', dont, "own") == state::pass);
    CHECK(w.what('a', dont, "long") == state::violating);
    const auto& shown = w.out.table->find(policy_key{"default", "long"})->second->strategies[0].rules[0];
    CHECK(shown.load(world::id('a')).present(w.now));
    w.at(1h);
    CHECK(w.what('a', dont, "long") == state::pass);
    CHECK_FALSE(shown.load(world::id('a')).present(w.now));
  }

  TEST_CASE("for: true this long, in sample time") {
    world w;
    w.apply(manifest(
        {{"dontschedule", rules("{metricname: temp, operator: GreaterThan, target: 80, for: 5s}")}}));
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::pass);
    w.at(4'999ms);
    w.value('a', "temp", 90);
    CHECK(w.what('a') == state::pass);
    SUBCASE("the sample that completes it") {
      w.at(5s);
      CHECK_MESSAGE(w.what('a') == state::pass, "time alone proves nothing");
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::violating);
      w.at(6s);
      w.value('a', "temp", 80);
      CHECK(w.what('a') == state::pass);
      w.at(7s);
      w.value('a', "temp", 90);
      CHECK_MESSAGE(w.what('a') == state::pass, "it counts from the beginning again");
    }
    SUBCASE("one value that is not true starts it anew") {
      w.at(5s);
      w.value('a', "temp", 80);
      w.at(6s);
      w.value('a', "temp", 90);
      w.at(10s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::pass);
      w.at(11s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::violating);
    }
    SUBCASE("absence starts it anew") {
      w.absent('a', "temp");
      w.at(5s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::pass);
      w.at(10s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::violating);
    }
    SUBCASE("so does expiry, also when the timer was late") {
      w.now = w.start + 15s;  // no tick came; the next sample did
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::pass);
      w.at(20s);
      w.value('a', "temp", 90);
      CHECK(w.what('a') == state::violating);
    }
    SUBCASE("sample time is the read time, not the time of arrival") {
      w.at(8s);
      w.sample('a', "temp", {from_double(90, 0).value(), w.start + 4'999ms, w.start + 20s, absence::none});
      CHECK(w.what('a') == state::pass);
      w.sample('a', "temp", {from_double(90, 0).value(), w.start + 5s, w.start + 20s, absence::none});
      CHECK(w.what('a') == state::violating);
    }
  }

  TEST_CASE("`for` counts the time of the newest member, if a number has several") {
    world w;
    w.apply(manifest(
        {{"dontschedule", rules("{metricname: temp, operator: GreaterThan, target: 80, for: 30s}")}}));
    // The oldest member of the mean was read 50 s before the first sample, and once more before the last one.
    const auto read = [&w](duration oldest, double value) {
      store::sample s{from_double(value, -3).value(), w.start + oldest, w.start + oldest + 180s,
                      absence::none};
      s.spread = w.now - s.read_at;
      w.sample('a', "temp", s);
    };
    w.at(50s);
    read(0s, 90);
    CHECK(w.what('a') == state::pass);
    w.at(79s);
    read(0s, 90);
    CHECK(w.what('a') == state::pass);
    w.at(80s);
    read(0s, 90);
    CHECK(w.what('a') == state::violating);
    w.at(81s);
    read(60s, 50);
    CHECK(w.what('a') == state::pass);
    // After an edit `for` still counts from the same time.
    w.at(100s);
    read(60s, 90);
    w.apply(manifest(
        {{"dontschedule", rules("{metricname: temp, operator: GreaterThan, target: 80, for: 20s}")}}));
    w.at(119s);
    read(60s, 90);
    CHECK(w.what('a') == state::pass);
    w.at(120s);
    read(60s, 90);
    CHECK(w.what('a') == state::violating);
  }

  TEST_CASE("clearBelow and clearAbove: violated at the target, cleared only past the other end") {
    world w;
    w.apply(manifest({{"dontschedule",
                       rules("{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}")}}) +
            "---\n" +
            manifest({{"dontschedule",
                       rules("{metricname: temp, operator: LessThan, target: 20, clearAbove: 30}")}},
                     "cold"));
    struct row {
      double temp;
      state warm, cold;
    };
    int step = 0;
    for (const row& r : {row{75, state::pass, state::pass},
                         {80, state::pass, state::pass},
                         {80.001, state::violating, state::pass},
                         {75, state::violating, state::pass},
                         {70, state::violating, state::pass},
                         {69.999, state::pass, state::pass},
                         {75, state::pass, state::pass},
                         {20, state::pass, state::pass},
                         {19, state::pass, state::violating},
                         {30, state::pass, state::violating},
                         {30.001, state::pass, state::pass},
                         {25, state::pass, state::pass}}) {
      CAPTURE(++step);
      w.at(std::chrono::seconds(step));
      w.value('a', "temp", r.temp);
      CHECK(w.what('a') == r.warm);
      CHECK(w.what('a', dont, "cold") == r.cold);
    }
  }

  TEST_CASE("dontschedule forgets its state with the data: a value that comes back in the band passes") {
    world w;
    w.apply(manifest(
        {{"dontschedule", rules("{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}")}}));
    w.value('a', "temp", 90);
    w.absent('a', "temp");
    w.value('a', "temp", 75);
    CHECK(w.what('a') == state::pass);
  }
}

}  // namespace engine_time_test
