#include "aggregator/store/window.hpp"

#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace binnacle::store {

using namespace std::chrono_literals;

namespace {

/// Points one second apart from 100 s on.
std::optional<decimal> over(statistic stat, duration length, const std::vector<std::int64_t>& mantissas) {
  point_window w(length, stat, -1);
  double t = 100;
  for (const std::int64_t m : mantissas) w.add(at_s(t++), m);
  return w.value();
}

}  // namespace

TEST_SUITE("aggregator/store/window/mean") {
  TEST_CASE("the first value is the mean of itself") {
    mean_window w(10s, -1, 0);
    CHECK_FALSE(w.mean().has_value());
    w.add(at_s(100), 605, {}, false);
    CHECK(w.mean() == decimal{605, -1});
  }

  TEST_CASE("a value counts for the time since the read before it") {
    mean_window w(10s, -1, 0);
    w.add(at_s(100), 999, {}, false);  // stands for the time before the window began
    w.add(at_s(101), 100, {}, false);
    w.add(at_s(104), 200, {}, false);
    CHECK(w.mean() == decimal{1750, -2});  // (10.0 × 1 s + 20.0 × 3 s) / 4 s
    CHECK(w.mean()->exponent == -2);
  }

  TEST_CASE("only the part of an interval inside the window counts") {
    mean_window w(10s, 0, 0);
    for (const double t : {100., 104., 108., 112.}) w.add(at_s(t), static_cast<std::int64_t>(t), {}, false);
    // The window is 102..112: 104 for 2 s, 108 for 4 s, 112 for 4 s.
    CHECK(w.mean() == decimal{1088, -1});
  }

  TEST_CASE("nothing is assumed about a hole") {
    mean_window w(60s, 0, 0);
    w.add(at_s(100), 10, {}, false);
    w.add(at_s(101), 10, {}, false);
    w.add(at_s(131), 40, {}, true);
    CHECK(w.mean() == decimal{10, 0});  // the 30 s up to 131 are not covered by anything
    w.add(at_s(132), 40, {}, false);
    CHECK(w.mean() == decimal{25, 0});
  }

  TEST_CASE("from a counter the mean is exact, across a hole too") {
    mean_window w(20s, -1, 0);
    w.add(at_s(100), 600, 5000, false);
    w.add(at_s(101), 600, 5060, false);
    w.add(at_s(115), 9999, 6750, true);  // (6750 - 5000) J / 15 s = 116.666… W
    CHECK(w.mean() == decimal{11667, -2});
  }

  TEST_CASE("a counter too coarse for the span gives way to the values") {
    mean_window w(20s, -1, 0);
    w.add(at_s(100), 604, 5000, false);
    w.add(at_s(101), 604, 5060, false);
    CHECK(w.mean() == decimal{604, -1});  // 60 J / 1 s would be 60.0
    for (int t = 102; t <= 110; ++t) w.add(at_s(t), 604, 5000 + (t - 100) * 604 / 10, false);
    CHECK(w.mean() == decimal{604, -1});  // 604 J / 10 s
  }

  TEST_CASE("the counter at the window's beginning is interpolated") {
    mean_window w(10s, -1, 0);
    w.add(at_s(100), 0, 1000, false);
    w.add(at_s(104), 0, 1400, false);     // 100 W
    w.add(at_s(108), 0, 1600, false);     // 50 W
    w.add(at_s(112), 0, 1700, false);     // 25 W
    CHECK(w.mean() == decimal{500, -1});  // 2 s × 100 + 4 s × 50 + 4 s × 25 = 500 J in 10 s
  }

  TEST_CASE("a counter that went back counts neither its energy nor its time") {
    mean_window w(60s, -1, 0);
    w.add(at_s(100), 500, 9000, false);
    w.add(at_s(110), 500, 9500, false);
    w.add(at_s(111), 500, 3, false);  // the agent started anew
    w.add(at_s(131), 500, 1003, false);
    // The counter covers 30 s and the values cover 31 s, so the values decide.
    CHECK(w.mean() == decimal{500, -1});
    // With a gap at the restart, counter and values both cover 30 s: (500 + 1000) J / 30 s.
    mean_window v(60s, -1, 0);
    v.add(at_s(100), 400, 9000, false);
    v.add(at_s(110), 400, 9500, false);
    v.add(at_s(111), 400, 3, true);
    v.add(at_s(131), 400, 1003, false);
    CHECK(v.mean() == decimal{500, -1});
  }

  TEST_CASE("a counter that started again in a hole leaves the value alone") {
    mean_window w(30s, -1, 0);
    w.add(at_s(100), 800, 5000, false);
    w.add(at_s(101), 800, 5080, false);
    CHECK_FALSE(w.add(at_s(28'901), 800, 80, true));  // the machine slept
    CHECK(w.mean() == decimal{800, -1});
  }

  // Before, the total was negative: a mean of it overflowed, and the window could not be read back.
  TEST_CASE("a rise that the total has no room for counts neither its energy nor its time") {
    mean_window w(60s, 0, 0);
    w.add(at_s(100), 5, 0, false);
    w.add(at_s(101), 5, INT64_MAX, false);
    w.add(at_s(102), 5, 0, false);
    CHECK_FALSE(w.add(at_s(103), 5, INT64_MAX, true));
    w.add(at_s(104), 5, {}, false);
    CHECK(w.mean() == decimal{5, 0});
    words kept;
    w.save(kept);
    mean_window again(60s, 0, 0);
    word_reader from(kept);
    again.load(from);
    CHECK(from.ok());
    CHECK(again.mean() == decimal{5, 0});
  }

  TEST_CASE("a counter read again after it was absent still telescopes") {
    mean_window w(60s, -1, 0);
    w.add(at_s(100), 500, 1000, false);
    w.add(at_s(110), 500, {}, false);
    w.add(at_s(120), 500, 3000, false);
    CHECK(w.mean() == decimal{1000, -1});
  }

  TEST_CASE("a long window keeps few points and loses nothing") {
    mean_window w(3600s, -1, 0);
    std::size_t most = 0;
    for (int t = 0; t <= 20'000; ++t) {
      w.add(at_s(1000 + t), t % 2 == 0 ? 300 : 100, {}, false);
      most = std::max(most, w.size());
    }
    CHECK(most <= mean_window::capacity + 2);
    CHECK(w.mean() == decimal{200, -1});
  }

  TEST_CASE("the largest mantissas do not overflow") {
    mean_window w(24h, 0, 0);
    for (int t = 0; t <= 86'400; t += 60) w.add(at_s(1000 + t), INT64_MAX / 10, {}, false);
    CHECK(w.mean() == decimal{INT64_MAX / 10, 0});
    w.add(at_s(100'000), INT64_MAX, {}, false);
    CHECK_FALSE(mean_window(1s, 0, 0).mean().has_value());
  }
}

TEST_SUITE("aggregator/store/window/points") {
  TEST_CASE("statistics of hand-made vectors") {
    const std::vector<std::int64_t> v = {20, 40, 40, 40,
                                         50, 50, 70, 90};  // the textbook's: mean 50, deviation 20
    CHECK(over(statistic::max, 60s, v) == decimal{90, -1});
    CHECK(over(statistic::min, 60s, v) == decimal{20, -1});
    CHECK(over(statistic::stddev, 60s, v) == decimal{200, -2});
    CHECK(over(statistic::p95, 60s, v) == decimal{90, -1});
    // Σ(t-3.5)(v-50) / Σ(t-3.5)² = 340 / 42 = 8.095238 tenths a second.
    CHECK(over(statistic::trend, 60s, v) == decimal{8095, -4});
  }

  TEST_CASE("p95 is the nearest rank") {
    std::vector<std::int64_t> v;
    for (int i = 1; i <= 20; ++i) v.push_back(i * 8 % 21);  // 1..20 in another order
    CHECK(over(statistic::p95, 60s, v) == decimal{19, -1});
    for (int i = 21; i <= 21; ++i) v.push_back(21);
    CHECK(over(statistic::p95, 60s, v) == decimal{20, -1});
    CHECK(over(statistic::p95, 60s, {5}) == decimal{5, -1});
  }

  TEST_CASE("the window is open at its beginning") {
    const std::vector<std::int64_t> v = {90, 1, 2, 3, 4};
    CHECK(over(statistic::max, 5s, v) == decimal{90, -1});
    CHECK(over(statistic::max, 4s, v) == decimal{4, -1});
    CHECK(over(statistic::min, 1ms, v) == decimal{4, -1});
  }

  TEST_CASE("a trend and a deviation need two points") {
    CHECK_FALSE(over(statistic::trend, 60s, {5}).has_value());
    CHECK_FALSE(over(statistic::stddev, 60s, {5}).has_value());
    CHECK_FALSE(over(statistic::trend, 1ms, {5, 6}).has_value());
    CHECK(over(statistic::trend, 60s, {5, 6}) == decimal{1, -1});
    CHECK(over(statistic::trend, 60s, {6, 5}) == decimal{-1, -1});
    CHECK(over(statistic::stddev, 60s, {5, 5}) == decimal{0, 0});
  }

  TEST_CASE("points of one instant have no slope") {
    point_window w(10s, statistic::trend, -1);
    w.add(at_s(100) + 7ns, 600);
    w.add(at_s(100) + 9ns, 600);
    CHECK(w.size() == 2);
    CHECK_FALSE(w.value().has_value());
  }

  TEST_CASE("a trend does not depend on how long ago the machine booted, nor on even spacing") {
    point_window w(60s, statistic::trend, 0);
    for (const double t : {0.1, 0.2, 5., 20., 21.}) w.add(at_s(3e7 + t), static_cast<std::int64_t>(t * 10));
    CHECK(w.value() == decimal{10, 0});
  }

  TEST_CASE("a long window keeps few points, and never loses an extreme in it") {
    point_window top(3600s, statistic::max, 0), low(3600s, statistic::min, 0), p95(3600s, statistic::p95, 0);
    for (int t = 0; t <= 10'000; ++t) {
      const std::int64_t v = t == 8001 ? 1000 : t == 8002 ? -1000 : t % 100;
      for (auto* w : {&top, &low, &p95}) w->add(at_s(1000 + t), v);
    }
    CHECK(top.size() <= point_window::capacity + 2);
    CHECK(top.value() == decimal{1000, 0});
    CHECK(low.value() == decimal{-1000, 0});
    CHECK(to_double(*p95.value()) == doctest::Approx(94).epsilon(0.05));
    for (int t = 10'001; t <= 12'000; ++t) top.add(at_s(1000 + t), t % 100);
    CHECK(top.value() == decimal{99, 0});
  }

  TEST_CASE("the largest mantissas give a result or none, never nonsense") {
    for (const statistic s : {statistic::stddev, statistic::trend}) {
      point_window w(24h, s, 0);
      for (int t = 0; t < 86'000; t += 600) w.add(at_s(1000 + t), t % 1200 == 0 ? INT64_MAX : INT64_MIN);
      const auto v = w.value();
      if (v && s == statistic::stddev) CHECK(to_double(*v) == doctest::Approx(9.2e18).epsilon(0.01));
    }
  }
}

TEST_SUITE("aggregator/store/exact") {
  TEST_CASE("division rounds half to even") {
    const std::int64_t table[][3] = {{5, 2, 2},  {7, 2, 4},   {-5, 2, -2}, {-7, 2, -4}, {4, 3, 1},
                                     {5, 3, 2},  {-4, 3, -1}, {-5, 3, -2}, {0, 9, 0},   {1, 3, 0},
                                     {-1, 2, 0}, {1, 2, 0},   {3, 2, 2},   {-3, 2, -2}, {6, 3, 2}};
    for (const auto& row : table) {
      CAPTURE(row[0]);
      CAPTURE(row[1]);
      CHECK(static_cast<std::int64_t>(exact::divide(row[0], row[1])) == row[2]);
    }
  }
  TEST_CASE("a ratio keeps all digits that fit, and gives nothing beyond") {
    CHECK(exact::ratio(2, 3, 3) == 667);
    CHECK(exact::ratio(2000, -3, 3) == 1);
    CHECK(exact::ratio(1, -36, 1) == 0);
    CHECK_FALSE(exact::ratio(INT64_MAX, 1, 1).has_value());
    CHECK_FALSE(exact::ratio(exact::wide{1} << 120, 20, 3).has_value());
    CHECK(exact::ratio(exact::wide{1} << 120, 20, exact::wide{1} << 126) == 1'562'500'000'000'000'000);
  }
}

}  // namespace binnacle::store
