#include "agent/link_plan.hpp"

#include <doctest/doctest.h>

namespace link_plan_test {

using namespace binnacle;
using namespace binnacle::agent;

TEST_SUITE_BEGIN("agent/link_plan");

TEST_CASE("each address is dialled, and again when its link is lost") {
  link_plan p(2);
  CHECK(p.slots() == 2);
  CHECK(p.may_dial(0));
  CHECK(p.may_dial(1));
  CHECK(!p.welcomed(0, "x", 2));
  CHECK(!p.may_dial(0));
  CHECK(p.may_dial(1));
  CHECK(!p.welcomed(1, "y", 2));
  CHECK(p.connected() == 2);
  p.lost(0);
  CHECK(p.may_dial(0));
  CHECK(!p.may_dial(1));
}

TEST_CASE("behind one address all replicas are looked for, each gets one link") {
  link_plan p(1);
  p.welcomed(0, "x", 3);
  REQUIRE(p.slots() == 3);
  CHECK(p.address_of(2) == 0);
  CHECK(p.may_dial(1));
  CHECK(p.may_dial(2));
  // The load balancer gives x again: the newer session has superseded the older one there.
  CHECK(p.welcomed(1, "x", 3) == 0);
  CHECK(p.connected() == 1);
  CHECK(p.may_dial(0));
  CHECK(!p.may_dial(1));
  p.welcomed(0, "y", 3);
  p.welcomed(2, "z", 3);
  CHECK(p.connected() == 3);
  p.lost(2);
  CHECK(p.may_dial(2));
}

TEST_CASE("two addresses that lead to one replica share one link, the other rests until it is needed") {
  link_plan p(2);
  p.welcomed(0, "x", 1);
  CHECK(p.may_dial(1));  // nobody knows yet where it leads
  CHECK(p.welcomed(1, "x", 1) == 0);
  p.lost(0);  // as the aggregator ended it
  CHECK(!p.may_dial(0));
  CHECK(!p.may_dial(1));
  p.lost(1);
  CHECK(p.may_dial(0));
  CHECK(p.may_dial(1));
}

TEST_CASE("independent aggregators that each think they are alone get a link each") {
  link_plan p(2);
  p.welcomed(0, "x", 1);
  p.welcomed(1, "y", 1);
  CHECK(p.connected() == 2);
  p.lost(1);
  CHECK(p.may_dial(1));
}

TEST_CASE("extra links rest when there are fewer replicas, and a wild number is bounded") {
  link_plan p(1);
  p.welcomed(0, "x", 2);
  p.welcomed(1, "y", 2);
  p.lost(1);
  CHECK(p.may_dial(1));
  p.welcomed(0, "x", 1);
  CHECK(!p.may_dial(1));
  p.welcomed(0, "x", 60'000);
  CHECK(p.slots() == link_plan::most_slots);
}

TEST_SUITE_END();

}  // namespace link_plan_test
