#include "aggregator/spread/in_flight.hpp"

#include <doctest/doctest.h>

namespace spread_in_flight_test {

using namespace binnacle;
using namespace std::chrono_literals;
using spread::in_flight;

namespace {

std::size_t of(in_flight& all, std::string_view set, instant now) {
  std::size_t n = 0;
  all.each(set, now, [&](const std::string&, const in_flight::pod&) { ++n; });
  return n;
}

}  // namespace

TEST_SUITE("aggregator/spread/in_flight") {
  TEST_CASE("a pod is on its way until it is seen, asked about again, or ten seconds old") {
    in_flight all;
    const instant t = from_ns(1'000'000'000);
    all.put("p1", "web", "a", t);
    all.put("p2", "web", "", t + 1s);
    all.put("p3", "db", "b", t + 1s);
    CHECK(of(all, "web", t + 1s) == 2);
    REQUIRE(all.find("p2", t + 1s) != nullptr);
    CHECK(all.find("p2", t + 1s)->node.empty());
    all.settle("p2", "c");
    CHECK(all.find("p2", t + 1s)->node == "c");
    all.settle("nobody", "c");
    all.gone("p1");
    CHECK(of(all, "web", t + 1s) == 1);
    all.put("p2", "web", "d", t + 8s);  // asked about again: it counts once, and from then
    CHECK(of(all, "web", t + 12s) == 1);
    CHECK(of(all, "db", t + 12s) == 0);
    CHECK(of(all, "web", t + 18s) == 0);
    CHECK(all.size() == 0);
  }

  TEST_CASE("there are no more than the bound, however often one is asked about") {
    in_flight all;
    const instant t = from_ns(1'000'000'000);
    for (std::size_t i = 0; i < in_flight::most + 10; ++i) all.put(std::to_string(i), "web", "a", t);
    CHECK(all.size() == in_flight::most);
    CHECK(all.find("0", t) == nullptr);
    CHECK(all.find(std::to_string(in_flight::most + 9), t) != nullptr);
    for (std::size_t i = 0; i < 3 * in_flight::most; ++i) all.put("same", "web", "a", t);
    CHECK(all.find("same", t) != nullptr);
    CHECK(of(all, "web", t + 11s) == 0);
  }
}

}  // namespace spread_in_flight_test
