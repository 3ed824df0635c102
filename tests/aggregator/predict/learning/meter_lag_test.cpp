#include "aggregator/predict/learning/meter_lag.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace meter_lag_test {

using namespace binnacle::predict;

namespace {

/// A load that changes every second, in the same way in each run.
double load_at(int second) {
  return 0.5 + 0.2 * std::sin(0.031 * second) + 0.12 * std::sin(0.0117 * second) +
         0.05 * std::sin(0.171 * second);
}
double watts_at(double load) { return 120 + 60 * std::min(1.0, load / 0.05) + 150 * load; }

/// A meter that is `late` seconds behind and reports the mean of the `mean` seconds before, in whole watts.
struct meter {
  int late = 0, mean = 1;
  double says(int second) const {
    double sum = 0;
    for (int k = 0; k < mean; ++k) sum += watts_at(load_at(second - late - k));
    return std::round(sum / mean);
  }
};

template <class F>
double of_ten_seconds(int second, F&& f) {
  double sum = 0;
  for (int k = 0; k < 10; ++k) sum += f(second - k);
  return sum / 10;
}

void feed(meter_lag& to, const meter& m, int from, int seconds) {
  for (int s = from; s < from + seconds; s += 5)
    to.add(of_ten_seconds(s, load_at), of_ten_seconds(s, [&](int at) { return m.says(at); }));
}

}  // namespace

TEST_SUITE("aggregator/predict/learning/meter_lag") {
  TEST_CASE("how late a meter is, and over what it means, is found in ten minutes of a load that moves") {
    for (const auto& m : {meter{0, 1}, {10, 1}, {10, 10}, {30, 10}, {60, 1}, {5, 60}, {30, 60}, {60, 60}}) {
      CAPTURE(m.late);
      CAPTURE(m.mean);
      meter_lag lag;
      feed(lag, m, 1000, 600);
      REQUIRE(lag.known());
      const double middle = m.late + m.mean / 2.0;
      CHECK(std::abs(static_cast<double>(lag.late().count()) - middle) <= 8);
    }
  }

  TEST_CASE("defect: a meter that means over five minutes is found, too, and is not taken for a faster one") {
    for (const auto& m : {meter{0, 300}, {30, 300}}) {
      CAPTURE(m.late);
      meter_lag lag;
      feed(lag, m, 1000, 1800);
      REQUIRE(lag.known());
      CHECK(std::abs(static_cast<double>(lag.late().count()) - (m.late + m.mean / 2.0)) <= 8);
    }
  }

  TEST_CASE("watts belong to the load as it was then") {
    const meter m{30, 10};
    meter_lag lag;
    feed(lag, m, 1000, 600);
    int looked = 0;
    for (int s = 1600; s < 3000; s += 5) {
      feed(lag, m, s, 5);
      const auto load = lag.load_of_watts();
      if (!load) continue;
      ++looked;
      CHECK(std::abs(*load - of_ten_seconds(s, [](int at) { return load_at(at - 35); })) < 0.04);
    }
    CHECK(looked > 100);
  }

  TEST_CASE("nothing is known of a meter while the load rests, nor of one that follows something else") {
    meter_lag rests, stuck, other;
    for (int s = 0; s < 3000; s += 5) {
      rests.add(0.5 + 0.001 * std::sin(s), 200 + 0.2 * std::sin(s));
      stuck.add(load_at(s), 200);
      other.add(load_at(s), 200 + 40 * std::sin(0.0513 * s));
    }
    CHECK_FALSE(rests.known());
    CHECK_FALSE(stuck.known());
    CHECK_FALSE(other.known());
    CHECK(other.follows_none());
    CHECK_MESSAGE(!rests.follows_none(), "a load that rests tells nothing of its meter");
    CHECK_FALSE(rests.load_of_watts());
  }

  TEST_CASE("after a gap the lag is still known, and the loads from before it are not used") {
    const meter m{30, 10};
    meter_lag lag;
    feed(lag, m, 1000, 600);
    lag.skip();
    feed(lag, m, 9000, 60);
    CHECK(lag.known());
    CHECK_FALSE(lag.load_of_watts());
    feed(lag, m, 9060, 200);
    CHECK(lag.known());
  }
}

}  // namespace meter_lag_test
