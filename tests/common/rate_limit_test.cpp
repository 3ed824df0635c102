#include "common/rate_limit.hpp"

#include <doctest/doctest.h>

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

TEST_SUITE("common/rate_limit") {
  TEST_CASE("a burst at once, then one after each refill, and the burst again after a rest") {
    rate_limit r(3, 10s);
    instant now(1h);
    for (int i = 0; i < 3; ++i) CHECK(r.take(now));
    CHECK_FALSE(r.take(now));
    CHECK(r.next() == now + 10s);
    now += 9s;
    CHECK_FALSE(r.take(now));
    now += 1s;
    CHECK(r.take(now));
    CHECK_FALSE(r.take(now));
    now += 20s;
    CHECK(r.take(now));
    CHECK(r.take(now));
    CHECK_FALSE(r.take(now));
    now += 1h;
    for (int i = 0; i < 3; ++i) CHECK(r.take(now));
    CHECK_FALSE(r.take(now));
  }
}

}  // namespace
