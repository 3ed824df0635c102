#include "common/crowd.hpp"

#include "tests/support/numbered_network.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <list>
#include <string>
#include <vector>

namespace crowd_test {

using namespace binnacle;
using support::numbered;

TEST_SUITE("common/crowd") {
  TEST_CASE("those of the network that has most give way, the oldest first") {
    crowd<int*> c;
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
    crowd<int*> c;
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

  TEST_CASE("networks take turns, whatever their numbers, and in each the first to come goes first") {
    crowd<std::string> c;
    for (const char* who : {"1a", "1b", "1c"}) c.enter(numbered(1), who);
    for (const char* who : {"2a", "2b"}) c.enter(numbered(2), who);
    c.enter(numbered(3), "3a");
    std::vector<std::string> order;
    while (!c.empty()) order.push_back(c.leave(c.next()));
    CHECK(order == std::vector<std::string>{"1a", "2a", "3a", "1b", "2b", "1c"});
  }

  TEST_CASE("a turn passes although nobody leaves, and an emptied network has none") {
    crowd<std::string> c;
    c.enter(numbered(1), "1a");
    const auto second = c.enter(numbered(2), "2a");
    c.enter(numbered(3), "3a");
    CHECK(*c.next().at == "1a");
    CHECK(c.leave(second) == "2a");
    CHECK(*c.next().at == "3a");
    CHECK(*c.next().at == "1a");
    CHECK(c.size() == 2);
  }

  TEST_CASE("of networks with equally many, each is the largest in its turn") {
    crowd<std::string> c;
    for (std::uint8_t n = 1; n <= 3; ++n) c.enter(numbered(n), "first");
    CHECK(c.next_largest() == numbered(1));
    CHECK(c.next_largest() == numbered(2));
    CHECK(c.next_largest() == numbered(3));
    CHECK(c.next_largest() == numbered(1));
    c.enter(numbered(2), "second");
    for (int i = 0; i < 3; ++i) CHECK(c.next_largest() == numbered(2));
  }

  TEST_CASE("a member is found by its network and by how many of it came earlier") {
    crowd<std::string> c;
    CHECK(c.count(numbered(1)) == 0);
    for (const char* who : {"first", "second", "third"}) c.enter(numbered(1), who);
    c.enter(numbered(2), "of another");
    CHECK(c.count(numbered(1)) == 3);
    CHECK(c.leave(c.seat_of(numbered(1), 1)) == "second");
    CHECK(c.largest() == std::list<std::string>{"first", "third"});
  }
}

}  // namespace crowd_test
