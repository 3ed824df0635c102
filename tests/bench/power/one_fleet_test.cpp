#include "tests/bench/power/one_fleet.hpp"

#include "tests/bench/power/curves_file.hpp"
#include "tests/bench/power/fill.hpp"
#include "tests/bench/power/optimum.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace one_fleet_test {

using namespace binnacle::bench;
namespace json = boost::json;

namespace {

const std::vector<double> rising{40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140};

one_fleet of(double cores, double pod_cores, std::vector<double> come_and_go = {}) {
  return {{{"a", cores, rising}}, 8, 0.9, 1, pod_cores, std::move(come_and_go)};
}
std::string refusal(const one_fleet& w) {
  const auto said = filled_once(w);
  REQUIRE(said.has_error());
  return said.error().message;
}

}  // namespace

TEST_SUITE("bench/power/one_fleet") {
  TEST_CASE("defect: pods that have no room were placed beside the fleet, and the optimum was 0") {
    CHECK(refusal(of(24, 16)) ==
          "the fleet has room for 8 of these 11 pods, since no pod lies on two servers: give them fewer than "
          "16 "
          "cores, or the fleet less load");
    for (const double pod : {6., 12., 32.}) {
      CAPTURE(pod);
      CHECK(refusal(of(16, pod)).starts_with("the fleet has room for "));
    }
    CHECK(refusal(of(16, 4, {32})) == "no server has room for a pod of 32 cores");
    CHECK(refusal(of(16, 4, {6, 16})).starts_with("pods of 16 cores beside some of 6"));
  }

  TEST_CASE("what the fleet has room for is what the optimum is known for") {
    for (const double pod : {4., 5., 6.4, 16., 32.}) {
      CAPTURE(pod);
      const auto nodes = make_fleet(of(16, pod).kinds, 3);
      CHECK(room_for(nodes, {pod}) + 1 == least_watts(nodes, {pod}).size());
    }
  }

  TEST_CASE("one fleet says its watts by each rule, and pods that come and go how many were refused") {
    const auto stay = json::parse(filled_once(of(16, 4)).value());
    CHECK(stay.at("pods") == 29);
    for (const char* by : {"spread", "waoV2", "marginal", "chord", "optimum"}) {
      CAPTURE(by);
      CHECK(stay.at(by).to_number<double>() > 8 * 40);
    }
    CHECK(stay.as_object().if_contains("refused") == nullptr);
    const auto go = json::parse(filled_once(of(16, 4, {4, 16})).value());
    CHECK(go.at("refused").at("spread").to_number<double>() > 0);
    CHECK(go.at("spread").to_number<double>() >= go.at("optimum").to_number<double>());
  }

  TEST_CASE("one large server: what docs/power.md says of it, for better and for worse") {
    auto all = read_servers(BINNACLE_SOURCE_ROOT "/tests/bench/power/curves/one_large.yaml");
    REQUIRE(all.has_value());
    one_fleet w;
    w.each = 1;
    for (const server& s : *all) {
      if (s.name == "large 256" || s.name == "small") w.kinds.push_back(s);
    }
    REQUIRE(w.kinds.size() == 2);
    const auto saved = [](const json::value& said, const char* by) {
      return 100 * (1 - said.at(by).to_number<double>() / said.at("spread").to_number<double>());
    };
    w.load = 0.3;
    w.come_and_go = {1, 2, 4};
    const auto low = json::parse(filled_once(w).value());
    CHECK(saved(low, "chord") < 3);
    CHECK(saved(low, "marginal") > 9);
    CHECK(saved(low, "optimum") > 12);
    w.load = 0.7;
    w.pod_cores = 2;
    w.come_and_go.clear();
    const auto high = json::parse(filled_once(w).value());
    CHECK(saved(high, "chord") > 12);
    CHECK(saved(high, "marginal") < -15);
    CHECK(read_servers(BINNACLE_SOURCE_ROOT "/tests/bench/power/curves/bent.yaml").has_value());
  }

  TEST_CASE("a kind with a count is there so many times") {
    one_fleet w = of(16, 4);
    w.kinds.push_back({"large", 256, rising, 1});
    w.kinds.front().count = 10;
    w.each = 1;
    CHECK(cores(make_fleet(w.kinds, 1)) == 10 * 16 + 256);
    const auto said = json::parse(filled_once(w).value());
    CHECK(said.at("servers").at(0).at("count") == 10);
  }
}

}  // namespace one_fleet_test
