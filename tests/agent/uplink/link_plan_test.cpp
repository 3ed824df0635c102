#include "agent/uplink/link_plan.hpp"

#include <doctest/doctest.h>

namespace link_plan_test {

using namespace binnacle;
using namespace binnacle::agent;

TEST_SUITE_BEGIN("agent/uplink/link_plan");

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
  // The load balancer leads to x again, where the newer session has superseded the older one.
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
  CHECK(p.may_dial(1));  // nobody knows yet where this address leads
  CHECK(p.welcomed(1, "x", 1) == 0);
  p.lost(0);  // the aggregator ended it
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

using indices = std::vector<std::size_t>;

TEST_CASE("of a name with an address for each replica, each slot takes one of its own") {
  const std::vector<std::string> pods = {"10.0.0.1:9110", "10.0.0.2:9110", "10.0.0.3:9110"};
  link_plan p(1);
  CHECK(p.choose(0, pods) == indices{0, 1, 2});
  p.reached(0, pods[0]);
  p.welcomed(0, "x", 3);
  CHECK(p.choose(1, pods) == indices{1, 2});
  CHECK(p.choose(2, pods) == indices{2});  // the other address is being dialled
  p.reached(1, pods[1]);
  p.welcomed(1, "y", 3);
  p.reached(2, pods[2]);
  p.welcomed(2, "z", 3);
  CHECK(p.connected() == 3);
  // A pod is replaced. For a while the name has the old address, then the new one.
  p.lost(1);
  CHECK(p.choose(1, pods) == indices{1});
  p.lost(1);
  CHECK(p.choose(1, {pods[0], pods[2], "10.0.0.9:9110"}) == indices{2});
}

TEST_CASE("an address that nobody answers at is tried again after the others") {
  const std::vector<std::string> pods = {"10.0.0.1:9110", "10.0.0.2:9110", "10.0.0.3:9110"};
  link_plan p(1);
  p.reached(0, pods[0]);
  p.welcomed(0, "x", 2);
  CHECK(p.choose(1, pods).front() == 1);
  p.lost(1);
  CHECK(p.choose(1, pods).front() == 2);
  p.lost(1);
  CHECK(p.choose(1, pods).front() == 1);
}

TEST_CASE("two addresses of one replica, of either family, do not keep its link from the others") {
  const std::vector<std::string> both = {"10.0.0.1:9110", "[fd00::1]:9110", "10.0.0.2:9110",
                                         "[fd00::2]:9110"};
  link_plan p(1);
  p.choose(0, both);
  p.reached(0, both[0]);
  p.welcomed(0, "x", 2);
  CHECK(p.choose(1, both).front() == 1);
  p.reached(1, both[1]);
  CHECK(p.welcomed(1, "x", 2) == 0);  // the same pod
  p.lost(0);
  CHECK(p.choose(0, both).front() == 2);
}

// "localhost" is such a name if the aggregator listens on IPv4 only. Before, the second replica was never
// reached.
TEST_CASE("a free address that is dead does not keep a link from a load balancer's other one") {
  const std::vector<std::string> both = {"[::1]:9110", "127.0.0.1:9110"};
  link_plan p(1);
  p.choose(0, both);
  p.reached(0, both[1]);
  p.welcomed(0, "x", 2);
  CHECK(p.choose(1, both) == indices{0});
  p.lost(1);
  CHECK(p.choose(1, both) == indices{0});
  p.lost(1);
  CHECK(p.choose(1, both) == indices{0, 1});  // after two dials that found nobody new
  p.reached(1, both[1]);
  p.welcomed(1, "y", 2);
  // The address is now known to be a load balancer's.
  p.lost(1);
  CHECK(p.choose(1, both).size() == 2);
}

TEST_CASE("while a replica does not answer, the links to the others change less and less often") {
  const std::vector<std::string> pods = {"10.0.0.1:9110", "10.0.0.2:9110"};
  link_plan p(1);
  p.choose(0, pods);
  p.reached(0, pods[0]);
  p.welcomed(0, "x", 2);
  std::size_t also_taken = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto tried = p.choose(1, pods);
    CHECK(tried.front() == 1);
    if (tried.size() > 1) ++also_taken;
    p.lost(1);
  }
  CHECK(also_taken == 9);  // after 2, 4, 8 … 512 dials
}

TEST_CASE("a load balancer's one address is dialled by every slot") {
  const std::vector<std::string> one = {"10.0.0.1:9110"};
  link_plan p(1);
  CHECK(p.choose(0, one) == indices{0});
  p.reached(0, one[0]);
  p.welcomed(0, "x", 2);
  CHECK(p.choose(1, one) == indices{0});
  CHECK(p.choose(1, {}).empty());
}

// Before, such ends counted as failures, and the links stayed away for up to 30 s.
TEST_CASE("it is known whether another link of the same agent may have replaced a link") {
  const std::vector<std::string> one = {"10.0.0.1:9110"};
  link_plan p(1);
  p.choose(0, one);
  p.welcomed(0, "x", 2);
  CHECK_FALSE(p.may_be_replaced_by_us(0));
  p.choose(1, one);  // it dials, and may have reached x
  CHECK(p.may_be_replaced_by_us(0));
  p.reached(1, one[0]);
  p.welcomed(1, "y", 2);
  CHECK_FALSE(p.may_be_replaced_by_us(0));
  p.welcomed(1, "x", 2);
  CHECK(p.may_be_replaced_by_us(0));
}

// Replicas that are there still give the old number. Before, a third pod became ready without agents, and its
// answers were empty lists.
TEST_CASE("a replica that is added is dialled when its address appears, whatever number the others give") {
  std::vector<std::string> pods = {"10.0.0.1:9110", "10.0.0.2:9110"};
  link_plan p(1);
  CHECK(p.resolved(0, pods));
  p.choose(0, pods);
  p.welcomed(0, "x", 2);
  p.choose(1, pods);
  p.welcomed(1, "y", 2);
  CHECK_FALSE(p.resolved(0, {pods[1], pods[0]}));  // the same addresses in another order
  CHECK(p.slots() == 2);
  pods.push_back("10.0.0.3:9110");
  CHECK(p.resolved(0, pods));
  REQUIRE(p.slots() == 3);
  CHECK(p.may_dial(2));
  CHECK(p.has_new_address(2));
  CHECK(p.only_meets(2));
  p.dials(2);
  CHECK(p.choose(2, pods) == indices{2});
  p.lost(2);  // the new pod does not listen yet
  CHECK(p.may_dial(2));
  CHECK_FALSE(p.has_new_address(2));
  CHECK(p.choose(2, pods) == indices{2});
  p.welcomed(2, "z", 3);
  CHECK(p.connected() == 3);
  CHECK(p.slots() == 3);
}

TEST_CASE("from one replica to as many as the chart allows, and no slot more") {
  link_plan p(1);
  std::vector<std::string> pods = {"10.0.0.1:9110"};
  p.choose(0, pods);
  p.welcomed(0, "r0", 1);
  for (std::size_t i = 2; i <= 70; ++i) pods.push_back("10.0.0." + std::to_string(i) + ":9110");
  p.resolved(0, pods);
  CHECK(p.slots() == 64);
  for (std::size_t slot = 1; slot < 64; ++slot) {
    p.dials(slot);
    CHECK(p.choose(slot, pods).size() == 70 - slot);
    p.welcomed(slot, "r" + std::to_string(slot), 1);
  }
  CHECK(p.connected() == 64);
}

// Before, the pause before the next dial ended at once, again and again.
TEST_CASE("a new address ends one pause, though the dial's own look-up does not give it") {
  const std::vector<std::string> old = {"10.0.0.1:9110", "10.0.0.2:9110"};
  link_plan p(1);
  p.choose(0, old);
  p.welcomed(0, "x", 2);
  p.resolved(0, {old[0], old[1], "10.0.0.3:9110"});
  REQUIRE(p.has_new_address(1));
  p.dials(1);
  CHECK(p.choose(1, old) == indices{1});
  p.lost(1);
  CHECK(p.has_new_address(1));  // the other new address
  p.dials(1);
  p.choose(1, old);
  p.lost(1);
  CHECK_FALSE(p.has_new_address(1));
  CHECK(p.may_dial(1));
}

TEST_CASE("an address that has gone is looked for no more") {
  const std::vector<std::string> three = {"10.0.0.1:9110", "10.0.0.2:9110", "10.0.0.3:9110"};
  link_plan p(1);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    p.resolved(0, three);
    p.choose(slot, three);
    p.welcomed(slot, "r" + std::to_string(slot), 1);
  }
  p.lost(2);
  CHECK(p.may_dial(2));
  p.resolved(0, {three[0], three[1]});
  CHECK_FALSE(p.may_dial(2));
  CHECK(p.choose(2, {three[0], three[1]}).empty());  // a dial that began before the address went
}

TEST_CASE("for an address that nobody has met no link is taken over, and one slot dials it") {
  const std::vector<std::string> pods = {"10.0.0.1:9110", "10.0.0.2:9110", "10.0.0.3:9110"};
  link_plan p(1);
  p.choose(0, pods);
  p.welcomed(0, "x", 2);
  p.choose(1, pods);
  p.welcomed(1, "y", 2);
  p.welcomed(1, "x", 1);  // takes the link of slot 0 over, which rests
  p.resolved(0, {pods[1], pods[2]});
  REQUIRE(p.may_dial(0));
  for (int i = 0; i < 100; ++i) {
    CHECK(p.choose(0, pods) != indices{1});
    p.lost(0);
  }
  p.dials(0);
  p.resolved(0, {"10.0.0.2:9110", "10.0.0.3:9110", "10.0.0.4:9110"});
  REQUIRE(p.slots() == 3);
  CHECK(p.may_dial(2));
  p.dials(2);
  p.resolved(0, {"10.0.0.2:9110", "10.0.0.3:9110"});
  CHECK_FALSE(p.has_new_address(1));
}

TEST_CASE("addresses of a family that has no link, and those of a load balancer, are no replicas") {
  link_plan p(1);
  const std::vector<std::string> both = {"10.0.0.1:9110", "[fd00::1]:9110"};
  p.resolved(0, both);
  p.choose(0, both);
  p.welcomed(0, "x", 1);
  CHECK(p.slots() == 1);
  // A load balancer with two addresses: the first one led two slots to two replicas.
  link_plan b(1);
  const std::vector<std::string> two = {"10.0.0.1:9110", "10.0.0.2:9110"};
  b.choose(0, two);
  b.welcomed(0, "x", 2);
  b.reached(1, two[0]);
  b.welcomed(1, "y", 2);
  b.resolved(0, {two[0]});
  CHECK_FALSE(b.may_dial(0));
  CHECK(b.slots() == 2);
}

TEST_SUITE_END();

}  // namespace link_plan_test
