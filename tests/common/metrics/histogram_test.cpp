#include "common/metrics/histogram.hpp"

#include <doctest/doctest.h>

using binnacle::metrics::histogram;

TEST_SUITE("common/metrics/histogram") {
  TEST_CASE("counts up to and including each bound") {
    histogram<3> h({10, 100, 1000});
    for (const std::int64_t v : {-1, 0, 10, 11, 100, 101, 1000, 1001, 5000}) h.observe(v);
    CHECK(h.cumulative(0) == 3);
    CHECK(h.cumulative(1) == 5);
    CHECK(h.cumulative(2) == 7);
    CHECK(h.count() == 9);
    CHECK(h.sum() == -1 + 0 + 10 + 11 + 100 + 101 + 1000 + 1001 + 5000);
  }
}
