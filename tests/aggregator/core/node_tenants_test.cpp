#include "aggregator/core/node_tenants.hpp"

#include "aggregator/core/core.hpp"
#include "tests/support/numbered_network.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

namespace node_tenants_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;
using support::numbered;

constexpr instant then(30h);

TEST_SUITE("aggregator/core/node_tenants") {
  TEST_CASE("who was there first is before all others, and before those that were never there") {
    node_tenants t;
    CHECK_FALSE(t.is_before(numbered(1), numbered(2)));
    t.welcomed(numbered(1), "a", "", then);
    t.welcomed(numbered(2), "b", "", then + 1s);
    t.welcomed(numbered(1), "a", "", then + 2s);
    CHECK(t.is_before(numbered(1), numbered(2)));
    CHECK_FALSE(t.is_before(numbered(2), numbered(1)));
    CHECK(t.is_before(numbered(2), numbered(3)));
    CHECK_FALSE(t.is_before(numbered(3), numbered(2)));
  }

  TEST_CASE(
      "an address is forgotten a day after its last session, and a crowd of others pushes it out in vain") {
    node_tenants t;
    t.welcomed(numbered(1), "a", "", then);
    t.left(then + 20h);
    for (std::uint8_t i = 2; i < 100; ++i) t.welcomed(numbered(i), "b", "", then + 20h);
    CHECK(t.is_before(numbered(1), numbered(99)));
    t.welcomed(numbered(100), "c", "", then + 20h + node_tenants::remembered + 1s);
    CHECK(t.is_before(numbered(100), numbered(1)));
  }

  TEST_CASE("an address whose session has gone on for days is still the first") {
    node_tenants t;
    t.welcomed(numbered(1), "a", "", then);
    t.welcomed(numbered(2), "b", "a", then + 72h);
    CHECK(t.is_before(numbered(1), numbered(2)));
  }

  TEST_CASE("an address is its machine's, until that machine starts again") {
    node_tenants t;
    t.welcomed(numbered(1), "a", "", then);
    t.welcomed(numbered(1), "thief", "a", then + 1s);  // took it from a session that was heard
    CHECK(t.boot_at(numbered(1)) == "a");
    t.welcomed(numbered(1), "a again", "", then + 2s);
    CHECK(t.boot_at(numbered(1)) == "a again");
    CHECK(t.boot_at(numbered(2)).empty());
  }

  TEST_CASE("what is kept goes on elsewhere: order, machines and how long each is remembered") {
    node_tenants t;
    t.welcomed(numbered(9), "old", "", then - 25h);
    t.left(then - 25h + 1s);
    t.welcomed(numbered(1), "a", "", then);
    t.left(then + 1h);
    t.welcomed(numbered(2), "b", "", then + 2h);
    const instant taken = then + 10h;
    const auto kept = t.to_keep(taken);
    REQUIRE(kept.size() == 2);
    CHECK(kept[0] == snapshot::tenant{numbered(1), "a", then + 1h});
    CHECK(kept[1] == snapshot::tenant{numbered(2), "b", taken});  // its session goes on
    CHECK(t.to_keep(then + 26h).size() == 1);

    // After a reboot of the aggregator's machine, ten minutes later.
    node_tenants again;
    again.recall(kept, instant(10min) - taken, instant(20min));
    CHECK(again.is_before(numbered(1), numbered(2)));
    CHECK(again.boot_at(numbered(1)) == "a");
    again.welcomed(numbered(3), "thief", "", instant(14h));
    CHECK(again.is_before(numbered(1), numbered(3)));
    again.welcomed(numbered(3), "thief", "", instant(16h));
    CHECK(again.boot_at(numbered(1)).empty());
    CHECK(again.is_before(numbered(2), numbered(3)));
  }

  TEST_CASE("a wrong snapshot gives no address a longer memory, nor more than four of them") {
    node_tenants t;
    std::vector<snapshot::tenant> kept;
    for (std::uint8_t i = 0; i < 9; ++i) kept.push_back({numbered(i), "b", then + 1'000h});
    t.recall(std::move(kept), 0s, then);
    CHECK(t.to_keep(then).size() == node_tenants::most);
    CHECK(t.to_keep(then).front().last == then);
    CHECK(t.to_keep(then + 25h).empty());
  }

  TEST_CASE("a core keeps who was first at a node through the bytes of a snapshot") {
    const auto names = std::make_shared<metrics::alias_table>();
    const auto ignore = [](const change&) {};
    core before({}, names, ignore);
    const auto id = before.node("node").value();
    before.welcomed(id, numbered(1), "a", "", then);
    before.connected(id, "1", "10.0.0.1:5", then);
    before.disconnected(id, then + 1min);
    before.welcomed(id, numbered(2), "b", "", then + 2min);
    auto draft = before.begin_snapshot();
    REQUIRE(before.add_nodes(draft, 10));
    const auto file = encode(std::move(draft.all));

    core again({}, names, ignore);
    CHECK(again.node("another").has_value());  // so that the node has another id
    REQUIRE(again.recall(decode(file).value(), 0s, then + 3min) == 1);
    const auto now = again.node("node").value();
    CHECK(again.tenants(now).is_before(numbered(1), numbered(2)));
    CHECK(again.tenants(now).boot_at(numbered(2)) == "b");
    CHECK_FALSE(again.tenants(store::node_id{77}).is_before(numbered(1), numbered(2)));

    again.forget_idle(1h, then + 5h);
    CHECK(again.tenants(now).boot_at(numbered(1)).empty());
  }
}

}  // namespace node_tenants_test
