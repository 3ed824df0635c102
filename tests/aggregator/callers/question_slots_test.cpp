#include "aggregator/callers/question_slots.hpp"

#include "tests/support/numbered_network.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace question_slots_test {

using namespace binnacle;
using support::numbered;

/// How many places the address with number `n` gets.
int all_of(callers::question_slots& slots, std::uint8_t n) {
  int got = 0;
  while (slots.take(numbered(n))) ++got;
  return got;
}

TEST_SUITE("aggregator/callers/question_slots") {
  TEST_CASE("one address takes half, another half of the rest, and a newcomer finds a place") {
    callers::question_slots slots(128);
    CHECK(all_of(slots, 1) == 64);
    CHECK(all_of(slots, 2) == 32);
    CHECK(slots.take(numbered(3)));
  }

  TEST_CASE("what is given back can be taken again, and no more than that") {
    callers::question_slots slots(4);
    CHECK(all_of(slots, 1) == 2);
    slots.give_back(numbered(1));
    CHECK(all_of(slots, 1) == 1);
    for (int i = 0; i < 2; ++i) slots.give_back(numbered(1));
    CHECK(all_of(slots, 2) == 2);
    CHECK(all_of(slots, 1) == 1);
    CHECK(all_of(slots, 3) == 1);
    CHECK_FALSE(slots.take(numbered(4)));
  }
}

}  // namespace question_slots_test
