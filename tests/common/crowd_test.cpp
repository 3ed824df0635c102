#include "common/crowd.hpp"

#include "tests/support/numbered_network.hpp"

#include <doctest/doctest.h>

namespace crowd_test {

using namespace binnacle;
using support::numbered;

TEST_SUITE("common/crowd") {
  TEST_CASE("those of the network that has most give way, the oldest first") {
    crowd<int> c;
    int a = 1, b = 2, d = 3, e = 4;
    c.enter(numbered(1), &a);
    const auto second = c.enter(numbered(2), &b);
    c.enter(numbered(2), &d);
    CHECK(c.size() == 3);
    CHECK(c.largest() == std::list<int*>{&b, &d});
    c.leave(second);
    const auto more = c.enter(numbered(1), &e);
    CHECK(c.largest() == std::list<int*>{&a, &e});
    c.leave(more);
    CHECK(c.size() == 2);
  }

  TEST_CASE("a member that has left is forgotten, also if it was the last one") {
    crowd<int> c;
    int a = 1;
    for (int i = 0; i < 3; ++i) {
      const auto place = c.enter(numbered(7), &a);
      CHECK(c.size() == 1);
      c.leave(place);
      CHECK(c.size() == 0);
    }
    c.enter(numbered(8), &a);
    CHECK(c.largest() == std::list<int*>{&a});
  }
}

}  // namespace crowd_test
