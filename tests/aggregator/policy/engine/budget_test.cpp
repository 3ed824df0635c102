#include "aggregator/policy/engine/budget.hpp"

#include <doctest/doctest.h>

#include <optional>

namespace budget_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace std::chrono_literals;

namespace {

constexpr store::node_id a{0}, b{1}, c{2};
constexpr instant start(1h);

TEST_SUITE("aggregator/policy/engine/budget") {
  TEST_CASE("a slot that becomes free goes to the node that has waited longest") {
    label_budget slots(node_limit{.count = 1}, 0s);
    CHECK(slots.ask(a, start, 10));
    CHECK_FALSE(slots.ask(b, start, 10));
    CHECK_FALSE(slots.ask(c, start, 10));
    CHECK_FALSE(slots.ask(b, start + 1s, 10));  // asking again changes no turn
    CHECK_FALSE(slots.next(start, 10).has_value());
    CHECK(slots.give_back(a));
    CHECK_FALSE(slots.give_back(a));
    CHECK_FALSE(slots.ask(a, start, 10));  // others wait already
    CHECK(slots.next(start, 10) == b);
    CHECK(slots.has(b));
    CHECK(slots.give_back(b));
    CHECK(slots.next(start, 10) == c);
  }

  TEST_CASE("a share is of the known nodes, rounded down, and at least one") {
    label_budget slots(node_limit{.count = 25, .percent = true}, 0s);
    CHECK(slots.slots(0) == 1);
    CHECK(slots.slots(7) == 1);
    CHECK(slots.slots(8) == 2);
    CHECK(slots.slots(4'000'000'000) == 1'000'000'000);
  }

  TEST_CASE("nodes are labelled one cool-down apart") {
    label_budget slots(std::nullopt, 10s);
    CHECK(slots.ask(a, start, 3));
    CHECK_FALSE(slots.ask(b, start + 1s, 3));
    CHECK(slots.next_at(3) == start + 10s);
    CHECK_FALSE(slots.next(start + 9s, 3).has_value());
    CHECK(slots.next(start + 10s, 3) == b);
    CHECK_FALSE(slots.next_at(3).has_value());  // nobody waits
  }

  TEST_CASE("a process that does not write labels gives no slot, and takes those that it sees") {
    label_budget slots(node_limit{.count = 1}, 0s);
    slots.set_writes_labels(false);
    CHECK_FALSE(slots.ask(a, start, 3));
    CHECK_FALSE(slots.next(start, 3).has_value());
    slots.adopt(b);
    CHECK(slots.has(b));
    slots.set_writes_labels(true);
    CHECK_FALSE(slots.next(start, 3).has_value());  // b has the one slot
    slots.give_back(b);
    CHECK(slots.next(start, 3) == a);
  }

  TEST_CASE("a node that waited before a restart keeps its turn") {
    label_budget slots(node_limit{.count = 1}, 0s);
    slots.wait_again(b, 7);
    slots.wait_again(a, 5);
    slots.wait_again(c, 5);  // as from a snapshot that gives two nodes the same turn
    CHECK(slots.ticket(c) == 0);
    CHECK_FALSE(slots.ask(c, start, 3));
    CHECK(slots.ticket(c) > 7);
    CHECK(slots.next(start, 3) == a);
    slots.give_back(a);
    CHECK(slots.next(start, 3) == b);
  }
}

}  // namespace

}  // namespace budget_test
