#include "aggregator/outliers/power_outliers.hpp"

#include "aggregator/node_warnings.hpp"
#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

namespace power_outliers_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

/// A fleet that is compared every ten seconds.
struct fleet {
  power_outliers watch;
  instant now{1h};
  std::vector<power_reading> nodes;

  void add(const char* prefix, std::size_t count, double watts, const char* hardware = "2 x A",
           std::optional<double> load = std::nullopt) {
    for (std::size_t i = 0; i < count; ++i)
      nodes.push_back(
          {prefix + std::to_string(i), hardware, watts * (1 + 0.01 * static_cast<double>(i % 5)), load});
  }
  power_reading& at(const char* name) { return *std::ranges::find(nodes, name, &power_reading::node); }
  void pass(duration time) {
    for (duration t{}; t < time; t += 10s) {
      now += 10s;
      watch.look(nodes, now);
    }
  }
  std::vector<std::string> named() const {
    std::vector<std::string> names;
    for (const auto& [name, what] : watch.named()) names.push_back(name);
    return names;
  }
};
using names = std::vector<std::string>;

}  // namespace

TEST_SUITE("aggregator/power_outliers") {
  TEST_CASE("a node far from similar nodes is named after a minute, on either side") {
    fleet f;
    f.add("a", 20, 200);
    double lie = 0;
    SUBCASE("far below") { lie = 3; }
    SUBCASE("far above") { lie = 20'000; }
    f.nodes[7].watts = lie;
    f.pass(60s);
    CHECK(f.named().empty());
    f.pass(10s);
    REQUIRE(f.named() == names{"a7"});
    const auto& o = f.watch.named().at("a7");
    CHECK(o.watts == lie);
    CHECK(o.least > 199.9);
    CHECK(o.most <= 208.1);
    CHECK(o.others == 19);
    const auto said = power_warnings(f.watch.named());
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("node a7") == 0);
    CHECK(said[0].find("19 similar nodes (2 x A)") != std::string::npos);
    CHECK(said[0].find("binnacle doctor") != std::string::npos);
  }

  TEST_CASE("it is no longer named when it is like the others, or has no value, and not at the edge of it") {
    fleet f;
    f.add("a", 20, 200);
    f.nodes[7].watts = 40;
    f.pass(70s);
    REQUIRE(f.named() == names{"a7"});
    SUBCASE("as they are") { f.nodes[7].watts = 150; }
    SUBCASE("no value") { f.nodes.erase(f.nodes.begin() + 7); }
    SUBCASE("at the edge") {
      for (int i = 0; i < 20; ++i) {
        f.nodes[7].watts = i % 2 == 0 ? 52 : 48;  // 202 W is 3.9 and 4.2 times as much
        f.pass(10s);
        CHECK(f.named() == names{"a7"});
      }
      f.nodes[7].watts = 100;
    }
    f.pass(10s);
    CHECK(f.named().empty());
  }

  TEST_CASE("what is odd for less than a minute is not named") {
    fleet f;
    f.add("a", 20, 200);
    for (int i = 0; i < 30; ++i) {
      f.nodes[7].watts = i % 6 == 5 ? 200 : 3;
      f.pass(10s);
      CHECK(f.named().empty());
    }
  }

  TEST_CASE(
      "a liar whose sensor drops out again and again is named, since a time without a value is a pause") {
    fleet f;
    f.add("a", 20, 200);
    power_reading liar = f.nodes[7];
    f.nodes.erase(f.nodes.begin() + 7);
    bool far = true;
    SUBCASE("far below the others") { liar.watts = 3; }
    SUBCASE("by another part of the machine") {
      for (auto& n : f.nodes) n.source = "dcmi";
      liar.source = "rapl";
      far = false;
    }
    const auto pass_with_value = [&f, &liar](duration time) {
      f.nodes.push_back(liar);
      f.pass(time);
      const auto seen = f.named();
      f.nodes.pop_back();
      return seen;
    };
    CHECK(pass_with_value(40s).empty());
    f.pass(30s);
    CHECK(pass_with_value(20s).empty());
    f.pass(30s);
    REQUIRE(pass_with_value(10s) == names{"a7"});
    CHECK(f.watch.named().at("a7").usual_source.empty() == far);
    // It is named at once when its value is back, but not while it has none.
    f.pass(9min);
    CHECK(f.named().empty());
    CHECK(pass_with_value(10s) == names{"a7"});
    // After more than ten minutes it may be mended.
    f.pass(11min);
    CHECK(pass_with_value(60s).empty());
    CHECK(pass_with_value(10s) == names{"a7"});
    // A value like the others' ends it.
    f.pass(30s);
    const power_reading lies = liar;
    liar.watts = 200;
    liar.source = f.nodes[0].source;
    CHECK(pass_with_value(10s).empty());
    liar = lies;
    CHECK(pass_with_value(60s).empty());
  }

  TEST_CASE("a class of fewer than five says nothing, and nodes of another class are not compared") {
    fleet f;
    f.add("a", 3, 200);
    f.nodes.push_back({"lone", "2 x A", 3, {}});
    f.add("b", 20, 2, "1 x small");
    f.pass(5min);
    CHECK(f.named().empty());
    f.add("c", 2, 200);
    f.pass(5min);
    CHECK(f.named() == names{"lone"});
  }

  TEST_CASE("a fleet half idle and half busy spreads, and no node of it is odd but one beyond both") {
    fleet f;
    f.add("idle", 15, 60);
    f.add("busy", 16, 350);
    f.pass(5min);
    CHECK(f.named().empty());
    f.nodes.push_back({"lies", "2 x A", 0.2, {}});
    f.nodes.push_back({"shouts", "2 x A", 1e6, {}});
    f.pass(5min);
    CHECK(f.named() == names{"lies", "shouts"});
  }

  TEST_CASE("a fifth of a class that lies is named, and the others are not") {
    fleet f;
    f.add("lies", 4, 3);
    f.add("a", 16, 200);
    f.pass(5min);
    CHECK(f.named() == names{"lies0", "lies1", "lies2", "lies3"});
  }

  TEST_CASE("a node that is idle among busy ones is not odd, one that says it is busy is") {
    fleet f;
    f.add("a", 20, 300, "2 x A", 0.8);
    f.at("a7") = {"a7", "2 x A", 40, 0.02};
    f.at("a9") = {"a9", "2 x A", 40, 0.79};
    f.at("a11") = {"a11", "2 x A", 40, std::nullopt};
    f.at("a13") = {"a13", "2 x A", 9000, 0.02};  // idle, and far above
    f.pass(5min);
    CHECK(f.named() == names{"a11", "a13", "a9"});
  }

  TEST_CASE("a class of equal numbers does not name a node for a few percent") {
    fleet f;
    for (int i = 0; i < 20; ++i) f.nodes.push_back({"a" + std::to_string(i), "2 x A", 200, {}});
    f.nodes[3].watts = 260;
    f.pass(5min);
    CHECK(f.named().empty());
  }

  // The psys meter of an old agent gave 0.0 W, and such nodes were left out of every comparison.
  TEST_CASE("a node that says 0 W is far below the others") {
    fleet f;
    f.add("a", 20, 200);
    f.nodes[7].watts = 0;
    f.pass(70s);
    CHECK(f.named() == names{"a7"});
  }

  TEST_CASE("a node that measures its processors among machines is named after a minute, with both sources") {
    fleet f;
    f.add("a", 20, 200);
    for (auto& n : f.nodes) n.source = n.node == "a3" ? "bmc" : "dcmi";  // both of the machine
    f.at("a7").source = "rapl";
    f.at("a7").watts = 80;
    f.pass(60s);
    CHECK(f.named().empty());
    f.pass(10s);
    REQUIRE(f.named() == names{"a7"});
    const auto said = power_warnings(f.watch.named());
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("that of the processors (rapl), 80.0 W, but 19 similar nodes (2 x A) give that of the "
                       "machine (dcmi)") != std::string::npos);
    f.at("a7").watts = 90;
    f.pass(10s);
    CHECK(power_warnings(f.watch.named()) == said);  // no new line in the log for each watt
    f.at("a7").source = "dcmi";
    f.at("a7").watts = 200;
    f.pass(10s);
    CHECK(f.named().empty());
  }

  TEST_CASE("in a mixed fleet nobody is named for what it measures, nor for a source that nobody knows") {
    fleet f;
    f.add("a", 20, 200);
    for (auto& n : f.nodes) n.source = "dcmi";
    SUBCASE("a quarter measures its processors") {
      for (int i = 0; i < 5; ++i) f.nodes[static_cast<std::size_t>(i)].source = "rapl";
    }
    SUBCASE("a source of a later version") { f.nodes[0].source = "cxl"; }
    SUBCASE("too few nodes") {
      f.nodes.resize(4);
      f.nodes[0].source = "rapl";
    }
    f.pass(5min);
    CHECK(f.named().empty());
  }

  TEST_CASE("a node by another source than all others is compared with them as far as both can be compared") {
    struct lone {
      const char *others, *source;
      double watts;
      bool far;
    };
    for (const lone& l : std::initializer_list<lone>{{"arm-scmi", "hwmon", 12.6, true},
                                                     {"arm-scmi", "hwmon", 2000, true},
                                                     {"arm-scmi", "hwmon", 100, false},
                                                     {"dcmi", "bmc", 12.6, true},
                                                     {"dcmi", "supplies", 2000, true},
                                                     {"rapl", "dcmi", 12.6, true},   // below its processors
                                                     {"rapl", "dcmi", 2000, false},  // accelerators
                                                     {"dcmi", "rapl", 12.6, false},  // only its processors
                                                     {"dcmi", "rapl", 2000, true},   // above the machine
                                                     {"psys", "rapl", 2000, true},
                                                     {"rapl", "psys", 12.6, true},
                                                     {"dcmi", "psys", 12.6, false},
                                                     {"rapl", "cxl", 12.6, false}}) {  // of a later version
      CAPTURE(l.others);
      CAPTURE(l.source);
      CAPTURE(l.watts);
      fleet f;
      f.add("a", 5, 180);
      for (auto& n : f.nodes) n.source = l.others;
      f.nodes.push_back({"odd", "2 x A", l.watts, {}, l.source});
      const auto far = [&f] {  // and not for the part that it measures
        const auto odd = f.watch.named().find("odd");
        return odd != f.watch.named().end() && odd->second.usual_source.empty();
      };
      f.pass(60s);
      CHECK(f.named().empty());
      f.pass(10s);
      CHECK(far() == l.far);
      CHECK(f.named().size() <= 1);
    }
  }

  TEST_CASE("the sentence about a node by another source names that source, and what the others measure") {
    fleet f;
    f.add("a", 5, 180);
    for (auto& n : f.nodes) n.source = "arm-scmi";
    f.nodes.push_back({"odd", "2 x A", 12.6, {}, "hwmon"});
    f.pass(70s);
    const auto said = power_warnings(f.watch.named());
    REQUIRE(said.size() == 1);
    CHECK_MESSAGE(
        said[0].find("5 similar nodes (2 x A, by meters of the processors; this node's is hwmon)") !=
            std::string::npos,
        said[0]);
  }

  TEST_CASE("liars that are a class of their own are compared with the others, too") {
    fleet f;
    f.add("a", 20, 180);
    for (auto& n : f.nodes) n.source = "rapl";
    f.add("lies", 5, 12);
    std::string source;
    SUBCASE("by another meter of the processors") { source = "hwmon"; }
    SUBCASE("by one of the machine") { source = "dcmi"; }
    for (std::size_t i = 20; i < 25; ++i) f.nodes[i].source = source;
    f.pass(70s);
    CHECK(f.named() == names{"lies0", "lies1", "lies2", "lies3", "lies4"});
  }

  TEST_CASE("what a node draws and is like comes from its series, while they have values") {
    store::warehouse stock;
    const auto id = stock.node("node-a").value();
    store::catalog_builder c;
    c.group("host").series("host_power_watts", {{"source", "dcmi"}}, -1);
    c.series("host_hardware_info",
             {{"cpu", "EPYC"}, {"sockets", "2"}, {"memory_gib", "512"}, {"accelerators", "8"}});
    c.group("os").series("os_cpu_utilization_ratio", {}, -4).series("os_cpus");
    const auto now = store::at_s(100);
    const auto made = stock.set_catalog(id, c, now);
    REQUIRE(made.has_value());
    store::node_view node;
    node.name = "node-a";
    node.connected = true;
    node.cells = made->cells;
    CHECK_FALSE(power_of(node, now).has_value());
    REQUIRE(stock.apply(id, store::batch_at(c, now, {{0, 4125}, {1, 1}, {2, 2500}}), duration{}, now)
                .has_value());
    const auto r = power_of(node, now);
    REQUIRE(r.has_value());
    CHECK(r->node == "node-a");
    CHECK(r->hardware == "2 x EPYC, 512 GiB, 8 accelerators");
    CHECK(r->source == "dcmi");
    CHECK(r->watts == doctest::Approx(412.5));
    CHECK(r->load == doctest::Approx(0.25));
    // Once it says its number of CPUs, it is compared with nodes that have as many, as it learns with them.
    const auto later = now + 1s;
    REQUIRE(
        stock.apply(id, store::batch_at(c, later, {{0, 4125}, {1, 1}, {2, 2500}, {3, 64}}), duration{}, later)
            .has_value());
    CHECK(power_of(node, later)->hardware == "2 x EPYC, 512 GiB, 8 accelerators, 64 CPUs");
    CHECK_FALSE(power_of(node, later + 11s).has_value());
    node.connected = false;
    CHECK_FALSE(power_of(node, now).has_value());
  }
}

}  // namespace power_outliers_test
