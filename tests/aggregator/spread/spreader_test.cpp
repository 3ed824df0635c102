#include "aggregator/spread/spreader.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spread_spreader_test {

using namespace binnacle;
using namespace std::chrono_literals;
using spread::spreader;

namespace {

/// One ReplicaSet, whose pods are on nodes of two zones: those with an even last digit are in "z0".
struct two_zones final : spread::world {
  struct pod {
    std::string uid, node;
  };
  std::vector<pod> pods;
  mutable int looked_up = 0;

  bool any_set_asks() const override { return true; }
  std::optional<replica_set> set(std::string_view, std::string_view, std::string_view) const override {
    return replica_set{100'000, "1"};
  }
  void each_pod(std::string_view,
                const std::function<void(std::string_view, std::string_view)>& tell) const override {
    for (const pod& p : pods) tell(p.uid, p.node);
  }
  spread::area_kind areas() const override { return spread::area_kind::zone; }
  std::string_view area_of(spread::area_kind, std::string_view node) const override {
    ++looked_up;
    if (node == "unlabelled") return {};
    return (node.back() - '0') % 2 == 0 ? "z0" : "z1";
  }
  bool is_control_plane(std::string_view) const override { return false; }
};

constexpr std::string_view asks =
    R"({"metadata":{"namespace":"shop","annotations":{"waok8s.github.io/podspread-rate":"1"},)"
    R"("ownerReferences":[{"kind":"ReplicaSet","name":"web","uid":"s1","controller":true}]}})";

}  // namespace

TEST_SUITE("aggregator/spread/spreader") {
  TEST_CASE("a large ReplicaSet's pods are counted by area, and an area is looked up once for a node") {
    two_zones cluster;
    for (int i = 0; i < 3000; ++i) cluster.pods.push_back({fmt::format("u{}", i), fmt::format("n{}", i % 5)});
    cluster.pods.push_back({"u", "unlabelled"});
    spreader s;
    s.watch(&cluster);
    const instant now = instant(1h);
    const auto plan = s.open("new", "shop", asks, now);
    REQUIRE(plan.has_value());
    CHECK(plan->told.placed == 3001);
    CHECK(plan->pods.size() == 2);
    CHECK(plan->pods.at("z0") == 1800);
    CHECK(plan->pods.at("z1") == 1200);
    CHECK(cluster.looked_up == 6);
  }
}

}  // namespace spread_spreader_test
