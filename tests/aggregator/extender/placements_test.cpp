#include "aggregator/extender/placements.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <ctime>

namespace placements_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using extender::placements;

constexpr instant start = instant(1h);
constexpr instant fresh = instant(2h);  // a value read long after all placements

/// Takes a copy, so that looking changes nothing. `start` is not later than any placement, so nothing is
/// forgotten.
std::uint32_t counting(placements p, std::string_view node, instant read_at, duration window) {
  for (const auto& crowd : p.crowds(start)) {
    if (crowd.node == node) return p.counting(crowd, read_at, window).pods;
  }
  return 0;
}

std::vector<std::string_view> nodes(placements& p, instant now) {
  std::vector<std::string_view> out;
  for (const auto& crowd : p.crowds(now)) out.push_back(crowd.node);
  return out;
}

/// The processor's time for many pods that end together, of which `on_a_node` share each node.
std::clock_t time_to_end(std::size_t on_a_node) {
  constexpr std::size_t many = 20'000;
  placements p;
  p.bindings_followed(true);
  for (std::size_t i = 0; i < many; ++i)
    p.bound(fmt::format("4b0c1f9e-7a55-4abc-8def-{:012}", i), fmt::format("node-{}", i / on_a_node), start);
  CHECK(p.size() == many);
  const std::clock_t from = std::clock();
  (void)p.crowds(start + 61s);  // only their cores count from now on
  CHECK(p.size() == many);
  (void)p.crowds(start + 31min);
  CHECK(p.size() == 0);
  return std::clock() - from;
}

double cores_at(placements& p, std::string_view node, instant now, instant read_at) {
  for (const auto& crowd : p.crowds(now)) {
    if (crowd.node == node) return p.counting(crowd, read_at, 10s).cores;
  }
  return 0;
}

TEST_SUITE("aggregator/extender/placements") {
  TEST_CASE("the cores of a pod whose image takes minutes to load are in flight until it is Ready") {
    placements p;
    p.bindings_followed(true);
    p.bound("u1", "node-a", start, 6);
    CHECK(cores_at(p, "node-a", start + 90s, start + 90s) == 6);
    CHECK(cores_at(p, "node-a", start + 20min, start + 20min) == 6);
    SUBCASE("then until its load is in the values") {
      p.ready("u1", true, start + 20min);
      CHECK(cores_at(p, "node-a", start + 20min + 15s, start + 20min + 15s) == 6);
      CHECK(cores_at(p, "node-a", start + 20min + 25s, start + 20min + 25s) == 0);
    }
    SUBCASE("for a minute if values do not come") {
      p.ready("u1", true, start + 20min);
      CHECK(cores_at(p, "node-a", start + 20min + 59s, start) == 6);
      CHECK(p.crowds(start + 20min + 60s).empty());
    }
    SUBCASE("not again when it is not Ready for a while: its load is in the values") {
      p.ready("u1", true, start + 20min);
      p.ready("u1", false, start + 20min + 30s);
      p.ready("u1", true, start + 20min + 50s);
      CHECK(p.crowds(start + 20min + 60s).empty());
    }
    SUBCASE("and no longer than it exists") {
      p.gone("u1");
      CHECK(p.crowds(start + 20min).empty());
    }
    SUBCASE("and for half an hour at most, since some pods run and are never Ready") {
      CHECK(cores_at(p, "node-a", start + 30min - 1s, start + 30min) == 6);
      CHECK(p.crowds(start + 30min).empty());
      CHECK(p.size() == 0);
    }
  }

  TEST_CASE("pods that never become Ready are bounded, and the oldest give way") {
    placements::settings few;
    few.most = 3;
    placements p(few);
    p.bindings_followed(true);
    for (int i = 0; i < 100; ++i) {
      const instant now = start + i * 2min;
      p.bound("u" + std::to_string(i), "node-a", now, 1);
      (void)p.crowds(now + 90s);
      CHECK(p.size() <= 3);
    }
    CHECK(p.dropped() == 97);
    CHECK(cores_at(p, "node-a", start + 200min, fresh) == 3);
  }

  TEST_CASE("a pod that is heard of late counts as if it had been told when it was bound") {
    placements p;
    SUBCASE("all pods are known") { p.bindings_followed(true); }
    SUBCASE("the first list of pods is being read") {}
    p.bound("new", "node-a", start, 1);
    p.bound("long there", "node-a", start, 2, 29min);
    p.bound("never ready", "node-a", start, 4, 50h);
    p.bound("younger", "node-a", start, 8, 30s);
    CHECK(cores_at(p, "node-a", start, start) == 11);
    CHECK_MESSAGE(counting(p, "node-a", fresh, 0s) == 2, "new and younger");
    CHECK(cores_at(p, "node-a", start + 40s, start + 40s) == 11);
    CHECK_MESSAGE(counting(p, "node-a", fresh, 0s) == 1, "new");
    CHECK(cores_at(p, "node-a", start + 61s, start + 61s) == 9);
    CHECK(cores_at(p, "node-a", start + 29min + 45s, start + 29min + 45s) == 1);
    CHECK(p.crowds(start + 30min).empty());
  }

  TEST_CASE("beyond the bound the pods that have been there for longest give way, also if heard of last") {
    placements::settings few;
    few.most = 2;
    placements p(few);
    p.bindings_followed(true);
    p.bound("new", "node-a", start, 1);
    p.bound("old", "node-a", start, 2, 10min);
    p.bound("newer", "node-a", start + 1s, 4);
    CHECK(p.dropped() == 1);
    CHECK(cores_at(p, "node-a", start + 1s, start + 1s) == 5);
  }

  TEST_CASE("a pod counts against its node from its binding on, one by one for a minute at most") {
    placements p;
    SUBCASE("bindings are followed") { p.bindings_followed(true); }
    SUBCASE("standalone") {}
    p.bound("u1", "node-a", start);
    p.bound("u2", "node-a", start + 30s);
    CHECK(counting(p, "node-a", fresh, 0s) == 2);
    CHECK(counting(p, "node-b", fresh, 0s) == 0);
    CHECK(nodes(p, start + 59s) == std::vector<std::string_view>{"node-a"});
    CHECK(counting(p, "node-a", fresh, 0s) == 2);
    CHECK(p.crowds(start + 60s).size() == 1);
    CHECK(counting(p, "node-a", fresh, 0s) == 1);
    (void)p.crowds(start + 90s);
    CHECK(counting(p, "node-a", fresh, 0s) == 0);
  }

  TEST_CASE("a value that was read long enough after the pod was ready shows it") {
    placements p;
    p.bound("u1", "node-a", start);
    p.ready("u1", true, start + 5s);
    CHECK(counting(p, "node-a", start + 14s, 0s) == 1);
    CHECK(counting(p, "node-a", start + 15s, 0s) == 0);
    SUBCASE("the mean of a window shows it when the whole window lies behind") {
      CHECK(counting(p, "node-a", start + 30s, 30s) == 1);
      CHECK(counting(p, "node-a", start + 45s, 30s) == 0);
    }
    SUBCASE("a pod that is not ready any more will start again") {
      p.ready("u1", false, start + 20s);
      CHECK(counting(p, "node-a", start + 40s, 0s) == 1);
    }
  }

  TEST_CASE("a pod that became ready after its minute does not count again") {
    placements p;
    p.expected("u1", "node-a", start);
    CHECK(p.crowds(start + 61s).empty());
    p.ready("u1", true, start + 61s);
    CHECK(counting(p, "node-a", start, 0s) == 0);
  }

  TEST_CASE("pods that end together cost no more on one node than on many") {
    // A search among the pods of the node would make it forty times as much.
    const std::clock_t on_many = time_to_end(1);
    CHECK(time_to_end(20'000) < 8 * on_many + CLOCKS_PER_SEC / 20);
  }

  TEST_CASE("a pod is found on its node after others have gone from there") {
    placements p;
    p.bindings_followed(true);
    p.bound("u1", "node-a", start, 1);
    p.bound("u2", "node-a", start, 2);
    p.bound("u3", "node-a", start, 4);
    p.bound("u4", "node-a", start, 8);
    p.gone("u1");
    p.ready("u4", true, start);
    CHECK(cores_at(p, "node-a", start + 30s, start + 30s) == 6);
    p.gone("u3");
    p.ready("u2", true, start + 30s);
    CHECK(cores_at(p, "node-a", start + 30s, start + 10s) == 10);
    p.gone("u4");
    CHECK(cores_at(p, "node-a", start + 30s, start + 10s) == 2);
    CHECK(cores_at(p, "node-a", start + 50s, start + 50s) == 0);
    p.gone("u2");
    CHECK(p.size() == 0);
    CHECK(p.crowds(start + 50s).empty());
  }

  TEST_CASE("what we expected gives way to what the API server says") {
    placements p;
    p.bindings_followed(true);
    p.expected("u1", "node-a", start);
    CHECK(counting(p, "node-a", fresh, 0s) == 1);
    p.bound("u1", "node-b", start + 1s);
    CHECK(counting(p, "node-a", fresh, 0s) == 0);
    CHECK(counting(p, "node-b", fresh, 0s) == 1);
    p.expected("u1", "node-a", start + 2s);  // no scheduler asks about a pod that has its node
    CHECK(counting(p, "node-a", fresh, 0s) == 0);
    SUBCASE(
        "an expectation that does not come true costs no point soon, and its cores end after the minute") {
      p.expected("u2", "node-c", start + 2s, 4);
      (void)p.crowds(start + 12s - 1ms);
      CHECK(counting(p, "node-c", fresh, 0s) == 1);
      CHECK(cores_at(p, "node-c", start + 12s, start + 12s) == 4);
      CHECK(counting(p, "node-c", fresh, 0s) == 0);
      CHECK(cores_at(p, "node-c", start + 62s - 1ms, start + 62s) == 4);
      CHECK(nodes(p, start + 62s) == std::vector<std::string_view>{"node-b"});
    }
    SUBCASE("cores go to where a pod is bound, also if that took long") {
      p.expected("u2", "node-c", start + 2s, 4);
      (void)p.crowds(start + 12s);
      p.bound("u2", "node-d", start + 40s, 4);
      CHECK(cores_at(p, "node-c", start + 40s, start + 40s) == 0);
      CHECK(cores_at(p, "node-d", start + 40s, start + 40s) == 4);
      CHECK(counting(p, "node-d", start, 0s) == 1);
    }
    SUBCASE("a pod that has gone counts no more") {
      p.gone("u1");
      p.gone("u1");
      CHECK(p.crowds(start + 2s).empty());
    }
  }

  TEST_CASE("standalone an expectation is all there is: it lasts for the minute, and the last one counts") {
    placements p;
    p.expected("u1", "node-a", start);
    p.expected("u1", "node-b", start + 30s);  // the scheduler tried again
    CHECK(counting(p, "node-a", fresh, 0s) == 0);
    CHECK(nodes(p, start + 89s) == std::vector<std::string_view>{"node-b"});
    CHECK(p.crowds(start + 90s).empty());
    p.expected("", "node-a", start + 91s);  // pods without a uid cannot be told apart
    CHECK(p.size() == 0);
  }

  TEST_CASE("beyond the bound the oldest give way, and are counted") {
    placements::settings few;
    few.most = 3;
    placements p(few);
    for (const char* uid : {"u1", "u2", "u3", "u4"}) p.bound(uid, uid, start);
    CHECK(p.size() == 3);
    CHECK(p.dropped() == 1);
    CHECK(counting(p, "u1", fresh, 0s) == 0);
    for (int i = 0; i < 1000; ++i) p.expected("u5", "node-a", start + 1s);
    CHECK(p.size() <= 3);
    CHECK(counting(p, "node-a", fresh, 0s) == 1);
  }
}

}  // namespace

}  // namespace placements_test
