#include "cli/terminal_text.hpp"
#include "cli/top/cells.hpp"
#include "cli/top/filter.hpp"
#include "cli/top/group.hpp"
#include "cli/top/listing.hpp"
#include "cli/top/page.hpp"
#include "tests/cli/samples.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace top_table_test {

using namespace binnacle::cli;
using namespace binnacle::cli::top;

namespace {

const char* const racks = R"({"time":"2026-01-01T12:00:00Z",
  "metrics":[{"name":"host_power_watts","unit":"watts"},{"name":"bmc_temperature_celsius","unit":"celsius"},
             {"name":"inlet_celsius","unit":"celsius"}],
  "nodes":[
    {"name":"a-1","connected":true,"agentVersion":"1","labels":{"rack":"r1"},
     "values":{"host_power_watts":{"value":100,"ageMs":10},"bmc_temperature_celsius":{"value":20,"ageMs":900}}},
    {"name":"a-2","connected":true,"agentVersion":"1","labels":{"rack":"r1"},
     "values":{"host_power_watts":{"value":300,"ageMs":10},"bmc_temperature_celsius":{"value":40,"ageMs":10}}},
    {"name":"b-1","connected":false,"agentVersion":"2","labels":{"rack":"r2"},
     "values":{"host_power_watts":{"absent":"disconnected","ageMs":20000}}}],"total":3,"omitted":0})";

std::vector<std::string> names(const listing& l) {
  std::vector<std::string> all;
  for (const node* n : l.rows()) all.push_back(n->name);
  return all;
}

std::vector<std::string> titles(const listing& l) {
  std::vector<std::string> all;
  for (const column& c : l.columns()) all.push_back(c.title);
  return all;
}

listing listed(const fleet& of, const choices& how, const std::vector<std::string>& compared = {}) {
  listing l;
  l.make(of, how, compared);
  return l;
}

using words = std::vector<std::string>;

}  // namespace

TEST_SUITE("cli/top/listing") {
  TEST_CASE("most watts come first, and nodes without a value last, whichever way round") {
    fleet f;
    f.take(parsed(racks), 0);
    CHECK(names(listed(f, {})) == words{"a-2", "a-1", "b-1"});
    CHECK(names(listed(f, {.reversed = true})) == words{"a-1", "a-2", "b-1"});
    CHECK(names(listed(f, {.sort = "node"})) == words{"a-1", "a-2", "b-1"});
    CHECK(names(listed(f, {.sort = "node", .reversed = true})) == words{"b-1", "a-2", "a-1"});
    CHECK(names(listed(f, {.sort = "age"})) == words{"b-1", "a-1", "a-2"});
  }

  TEST_CASE("a column that has gone is not sorted by") {
    fleet f;
    f.take(parsed(racks), 0);
    CHECK(names(listed(f, {.sort = "metric:of_before"})) == words{"a-2", "a-1", "b-1"});
  }

  TEST_CASE("a policy's column has the worst first") {
    fleet f;
    f.take(parsed(nodes_sample), 0);
    CHECK(names(listed(f, {.sort = "policy:default/power"})) == words{"node-b", "node-c", "node-a"});
    const listing l = listed(f, {});
    CHECK(l.violating() == 1);  // the policy of the other node is in DryRun
  }

  TEST_CASE("a filter finds names, labels and what is the matter, in any case") {
    fleet f;
    f.take(parsed(racks), 0);
    CHECK(names(listed(f, {.filter = "A-"})) == words{"a-2", "a-1"});
    CHECK(names(listed(f, {.filter = "rack=r2"})) == words{"b-1"});
    CHECK(names(listed(f, {.filter = "down"})) == words{"b-1"});
    CHECK(names(listed(f, {.filter = "rack=r1 !a-1"})) == words{"a-2"});
    CHECK(names(listed(f, {.filter = "rack=r1 r2"})).empty());
    CHECK(names(listed(f, {.filter = " ! "})).size() == 3);
    fleet g;
    g.take(parsed(nodes_sample), 0);
    CHECK(names(listed(g, {.filter = "power:violating"})) == words{"node-b"});
  }

  TEST_CASE("watts of a group add up, temperatures have a mean, and what is missing shows") {
    fleet f;
    f.take(parsed(racks), 0);
    const listing l = listed(f, {.grouping = "label:rack"});
    CHECK(names(l) == words{"r1", "r2"});
    CHECK(titles(l) == words{"GROUP", "POWER sum", "TEMP mean", "AGE", "TREND"});
    CHECK(l.rows()[0]->values[0].value == 400);
    CHECK(l.rows()[0]->values[1].value == 30);
    CHECK_FALSE(l.rows()[0]->values[0].partial);
    CHECK(cell_of(*l.rows()[0], l.columns()[0], 0, 0).text == "r1 (2)");
    CHECK(cell_of(*l.rows()[1], l.columns()[1], 0, 0).text == "link down");

    const listing by_name = listed(f, {.grouping = "prefix"});
    CHECK(names(by_name) == words{"a", "b"});
    CHECK(names(listed(f, {.within = std::pair("label:rack", "r1")})) == words{"a-2", "a-1"});
    CHECK(l.total().values[0].value == 400);
    CHECK(l.total().values[0].partial);  // one of the three nodes has no value
    const auto kinds = groupings_of(f);
    CHECK(kinds.back().id == "label:rack");
  }

  TEST_CASE("labels of Node objects group and filter, whoever gave them") {
    fleet f;
    f.take(parsed(racks), 0);
    f.take_label_keys(parsed(
        R"({"keys":[{"key":"example.com/rack","nodes":2,"values":2},{"key":"kubernetes.io/hostname","nodes":3}]})"));
    CHECK(f.label_keys() == words{"example.com/rack"});  // nobody groups by the name of a host
    CHECK(groupings_of(f).size() == 5);
    CHECK(groupings_of(f)[3].id == "label:example.com/rack");
    const auto by_rack = [&] { return listed(f, {.grouping = "label:example.com/rack"}); };
    CHECK(names(by_rack()) == words{"(none)"});
    const auto told = parsed(
        R"({"key":"example.com/rack","values":[{"value":"r7","nodes":["a-1","a-2","unknown"]},{"value":"","nodes":["b-1"]},{"nodes":1},2]})");
    f.take_labels("example.com/rack", told);
    CHECK(names(by_rack()) == words{"r7", "(empty)"});
    CHECK(by_rack().rows()[0]->values[0].value == 400);
    CHECK(names(listed(f, {.filter = "rack=r7"})) == words{"a-2", "a-1"});
    CHECK(names(listed(f, {.within = std::pair("label:example.com/rack", "r7")})) == words{"a-2", "a-1"});
    f.take(parsed(racks), 0);  // a new answer about the nodes does not remove the labels
    CHECK(names(listed(f, {.filter = "rack=r7"})) == words{"a-2", "a-1"});

    // The Node object's present label counts more than the label that a policy gave before.
    f.take_labels("rack", parsed(R"({"key":"rack","values":[{"value":"r9","nodes":["a-1"]}]})"));
    CHECK(names(listed(f, {.grouping = "label:rack"})) == words{"r1", "r9", "r2"});
    f.keep_labels({"rack"});
    CHECK(names(by_rack()) == words{"(none)"});
    CHECK(names(listed(f, {.filter = "rack=r7"})).empty());
    CHECK(filter("Rack=r1 a !zone=b =c").label_keys() == words{"rack", "zone"});
  }

  TEST_CASE("a group says how many of its nodes a policy concerns") {
    fleet f;
    f.take(parsed(nodes_sample), 0);
    const listing l = listed(f, {.grouping = "prefix"});
    REQUIRE(l.rows().size() == 1);
    const auto at = std::ranges::find(l.columns(), "policy:default/power", &column::id);
    REQUIRE(at != l.columns().end());
    CHECK(cell_of(*l.rows()[0], *at, 0, 0).text == "2 violating");
    CHECK(cell_of(*l.rows()[0], *(at + 1), 0, 0).text == "(1 violating)");
  }

  TEST_CASE("a watched policy is alone, with the metrics that it compares") {
    fleet f;
    f.take(parsed(nodes_sample), 0);
    CHECK(titles(listed(f, {})) == words{"NODE", "POWER", "CPU", "AGE", "TREND", "power", "lab/heat", "WHY"});
    CHECK(titles(listed(f, {.policy = "default/power"}, {"os_memory_available_bytes"})) ==
          words{"NODE", "POWER", "CPU", "os_memory_availab…", "AGE", "TREND", "power", "WHY"});
    CHECK(
        titles(listed(f, {.shown = {{"trend", false}, {"metric:os_memory_available_bytes", true}}})).size() ==
        8);
  }

  TEST_CASE("where nodes' curves come from is a column as soon as one has a curve") {
    const auto with = [](std::string model) {
      return R"({"metrics":[],"nodes":[{"name":"a","connected":true},{"name":"b","connected":true)" + model +
             R"(},{"name":"c","connected":true,"model":7}],"total":3})";
    };
    fleet f;
    f.take(parsed(with("").c_str()), 0);
    CHECK_FALSE(f.any_model());
    CHECK(titles(listed(f, {})) == words{"NODE", "AGE", "TREND", "WHY"});
    f.take(parsed(with(R"(,"model":{"source":"node","coveredPercent":62})").c_str()), 1);
    const listing l = listed(f, {.sort = "curve"});
    CHECK(titles(l) == words{"NODE", "AGE", "TREND", "CURVE", "WHY"});
    CHECK(names(l) == words{"b", "a", "c"});
    CHECK(cell_of(*l.rows()[0], l.columns()[3], 0, 0).text == "node 62 %");
    CHECK(cell_of(*l.rows()[1], l.columns()[3], 0, 0).text == "-");
    f.take(parsed(with(R"(,"model":{"source":"node","coveredPercent":62,"noisePercent":1.2})").c_str()), 2);
    const listing exact = listed(f, {.sort = "curve"});
    CHECK(cell_of(*exact.rows()[0], exact.columns()[3], 0, 0).text == "node 62 % ±1.2 %");
    f.take(parsed(with(R"(,"model":{"source":"class","coveredPercent":0})").c_str()), 3);
    const listing of_class = listed(f, {.sort = "curve"});
    CHECK(cell_of(*of_class.rows()[0], of_class.columns()[3], 0, 0).text == "class");
    // A group has no curve, so it has no column CURVE. A column that was switched off stays off.
    CHECK(titles(listed(f, {.grouping = "prefix"})) == words{"GROUP", "AGE", "TREND"});
    CHECK(titles(listed(f, {.shown = {{"curve", false}}})) == words{"NODE", "AGE", "TREND", "WHY"});
  }

  TEST_CASE("two nodes whose names look alike are two rows") {
    fleet f;
    f.take(
        parsed(
            R"({"nodes":[{"name":"x\u0007","connected":true},{"name":"x\u001b","connected":true}],"total":2})"),
        0);
    CHECK(names(listed(f, {})) == words{"x?", "x?"});
  }

  TEST_CASE("an answer that is no list does no harm") {
    for (const char* odd :
         {"null", "[]", "7", R"({"nodes":7,"metrics":{}})",
          R"({"nodes":[1,{"name":3},{"name":"n","values":[],"verdicts":{},"labels":1}]})"}) {
      CAPTURE(odd);
      fleet f;
      f.take(parsed(odd), 0);
      CHECK(listed(f, {.grouping = "label:x"}).rows().size() <= 1);
    }
  }
}

TEST_SUITE("cli/top/trail") {
  TEST_CASE("a trail keeps the newest values, and stays with its metric when other metrics come and go") {
    trail t;
    for (int i = 0; i < 100; ++i) t.add(static_cast<float>(i));
    CHECK(t.size() == trail::most);
    CHECK(t.at(trail::most - 1) == 99);
    CHECK(t.at(0) == 100 - trail::most);

    fleet f;
    f.take(
        parsed(R"({"metrics":[{"name":"x","unit":""}],"nodes":[{"name":"n","values":{"x":{"value":1}}}]})"),
        0);
    f.take(parsed(R"({"metrics":[{"name":"host_power_watts","unit":"watts"},{"name":"x","unit":""}],
                      "nodes":[{"name":"n","values":{"x":{"value":2}}}]})"),
           1);
    const trail& kept = f.nodes().at("n").trails[1];
    REQUIRE(kept.size() == 2);
    CHECK(kept.at(0) == 1);
    CHECK(kept.at(1) == 2);
  }

  TEST_CASE("bars rise from the least to the most; noise is flat and no value is no bar") {
    trail t;
    for (const float v : {0.f, 50.f, 100.f}) t.add(v);
    t.add(std::numeric_limits<float>::quiet_NaN());
    CHECK(sparkline(t, 8) == "▁▅█·");
    CHECK(sparkline(t, 2) == "▁·");
    trail noise;
    for (const float v : {1000.f, 1001.f, 1000.f}) noise.add(v);
    CHECK(sparkline(noise, 8) == "▁▁▁");
    trail odd;
    for (const float v : {std::numeric_limits<float>::infinity(), -1e38f, 1e38f, 0.f}) odd.add(v);
    CHECK(columns_of(sparkline(odd, 8)) == 4);
    CHECK(in_ascii("▁▅█· 61.5 °C … ü ±1 %") == "_=#  61.5 C ~ ? +-1 %");
  }
}

TEST_SUITE("cli/top/page") {
  TEST_CASE("text is cut to its room, and nothing stands beyond the terminal") {
    page_writer out(10, true);
    out.begin();
    out.put(0, 4, "abcdef");
    out.put(6, 9, "123456");
    out.put(10, 3, "x");
    out.put(2, 4, "7", ink::plain, align::right);
    const page p = out.take();
    REQUIRE(p.lines[0].spans.size() == 3);
    CHECK(p.lines[0].spans[0].text == "abc…");
    CHECK(p.lines[0].spans[1].text == "123…");
    CHECK(p.lines[0].spans[2].x == 5);
    page_writer ascii(10, false);
    ascii.begin();
    ascii.put(0, 7, "61.5 °C", ink::plain, align::right);
    CHECK(ascii.take().lines[0].spans[0].x == 1);
  }
}

}  // namespace top_table_test
