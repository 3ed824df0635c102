#include "common/doubling.hpp"

#include <doctest/doctest.h>

namespace doubling_test {

using namespace binnacle;
using namespace std::chrono_literals;

TEST_SUITE("common/doubling") {
  TEST_CASE("where nobody else waits the spans themselves double") {
    doubling d(1s, 60s);
    for (const duration wanted : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
      CHECK(d.upcoming() == wanted);
      CHECK(d.next() == wanted);
    }
    d.reset();
    CHECK(d.next() == 1s);
  }

  TEST_CASE("a cap that is lower this time counts from now on") {
    doubling d(1s);
    for (int i = 0; i < 8; ++i) d.next(300s);
    CHECK(d.next(300s) == 256s);
    CHECK(d.next(60s) == 60s);
    CHECK(d.next(300s) == 120s);
  }

  TEST_CASE("spans without a cap do not overflow") {
    doubling d(1s);
    duration last{};
    for (int i = 0; i < 100; ++i) {
      CHECK(d.upcoming() >= last);
      last = d.next();
    }
  }
}

}  // namespace doubling_test
