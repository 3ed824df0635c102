#include "cli/views/policies.hpp"
#include "cli/views/status.hpp"
#include "cli/views/top.hpp"
#include "cli/views/why.hpp"
#include "tests/cli/samples.hpp"

#include <doctest/doctest.h>

namespace views_test {

using namespace binnacle::cli;

namespace {

const paint no_colours{};
const std::string url = "https://localhost:9102";

}  // namespace

TEST_SUITE("cli/views/status") {
  TEST_CASE("the status is one page") {
    CHECK(render_status(parsed(status_sample), url, no_colours) ==
          "binnacle-aggregator 0.1.0, replica agg-1, standalone, up 3m12s  https://localhost:9102\n"
          "nodes         2 of 3 connected\n"
          "policies      2 in force, 1 of them in dry run, 1 problem in their files (binnacle policy list)\n"
          "              default/power  dontschedule  1 node violating, 2 nodes missing\n"
          "              lab/heat       deschedule    no violation (dry run)\n"
          "sources       2 sources cannot be read\n"
          "              node-b rapl: energy_uj may not be read: run the agent as root\n"
          "              and 1 more\n"
          "decisions     120 made, the last 20 kept\n"
          "listeners     name      address       open  requests  failures\n"
          "              extender  0.0.0.0:9001     1       120         0\n"
          "              ops       0.0.0.0:9102     1         8         1\n"
          "certificates  pki/server.pem ends in 2h00m\n"
          "warnings      the certificate pki/server.pem ends today\n");
  }

  TEST_CASE("an aggregator that just started says what to do") {
    const std::string text =
        render_status(parsed(R"({"version":"0.1.0","mode":"standalone"})"), url, no_colours);
    CHECK(text.find("none yet: start binnacle-agent with --aggregator pointing here\n") != std::string::npos);
    CHECK(text.find("0 in force\n") != std::string::npos);
  }

  TEST_CASE("an answer that is no status does no harm") {
    for (const char* odd :
         {"null", "[]", "7", R"({"nodes":7,"policies":[],"listeners":{"a":1},"warnings":[1,null]})"}) {
      CAPTURE(odd);
      CHECK_FALSE(render_status(parsed(odd), url, no_colours).empty());
    }
  }

  TEST_CASE("colours mark what needs a person") {
    const std::string text = render_status(parsed(status_sample), url, paint{true});
    CHECK(text.find("\x1b[33m2 of 3 connected\x1b[0m") != std::string::npos);
    CHECK(text.find("\x1b[31m1 node violating, 2 nodes missing\x1b[0m") != std::string::npos);
  }
}

TEST_SUITE("cli/views/status sources") {
  TEST_CASE("sources that work in part are counted and named beside those that do not work") {
    json::value status = parsed(status_sample);
    status.as_object()["sourcesInPart"] = parsed(
        R"({"count":2,"first":[{"node":"node-a","source":"bmc","message":"2 of 9 sensors cannot be read"}]})");
    const std::string text = render_status(status, url, no_colours);
    CHECK(text.find("2 sources cannot be read\n") != std::string::npos);
    CHECK(text.find("2 sources work in part\n") != std::string::npos);
    CHECK(text.find("node-a bmc: 2 of 9 sensors cannot be read\n") != std::string::npos);
  }
}

TEST_SUITE("cli/views/top") {
  TEST_CASE("most watts first, each value with its age, one column a policy, and why") {
    CHECK(render_top(parsed(nodes_sample), url, {}, no_colours) ==
          "binnacle top  2026-01-01T12:00:00Z  2 of 3 nodes connected  https://localhost:9102\n"
          "\n"
          "NODE             POWER AGE                 CPU AGE              power      lab/heat     WHY\n"
          "node-b         71.4 W* 180ms            98.8 % 450ms            violating  (pass)       "
          "power dontschedule: rapl_power_watts "
          "GreaterThan 60; power deschedule: rapl_power_watts GreaterThan 65\n"
          "node-a          22.1 W 210ms             3.1 % 480ms            pass       (violating)  "
          "lab/heat deschedule: inlet_celsius "
          "GreaterThan 30\n"
          "node-c (down)        - link down 15.3s       - link down 15.3s  missing    (pass)       "
          "power dontschedule: rapl_power_watts "
          "GreaterThan 60\n"
          "* in part: some members have no value, or the values cover less than 80 % of a window\n");
  }

  TEST_CASE("verdicts that the answer had no room for are told") {
    json::value cut = parsed(nodes_sample);
    cut.as_object()["strategiesOmitted"] = 3;
    CHECK(render_top(cut, url, {}, no_colours)
              .ends_with("no room for the verdicts of 3 strategies (binnacle policy list)\n"));
  }

  TEST_CASE("a rule whose values cover too little of its window says so, whatever the verdict") {
    const char* const sample =
        R"({"nodes":[{"name":"a","connected":true,"verdicts":[
             {"policy":"default/p","strategy":"deschedule","mode":"Enforce","state":"pass","violating":false,
              "uncovered":{"rule":"watts (p95 1m) GreaterThan 350","windowCovered":38}}]}],"total":1})";
    CHECK(render_top(parsed(sample), url, {}, no_colours)
              .find("deschedule: watts (p95 1m) GreaterThan 350, values for 38 % of the window") !=
          std::string::npos);
  }

  TEST_CASE("a node of which some sources fail is marked, and the first reason stands below") {
    const char* const sample =
        R"({"nodes":[{"name":"a","connected":true,"sources":[{"source":"os","ok":true}]},
          {"name":"b","connected":true,"sources":[{"source":"rapl","ok":false,"message":"energy_uj may not be read: run the agent as root"},
                                                  {"source":"bmc","ok":true,"message":"2 of 9 sensors cannot be read"}]},
          {"name":"c","connected":false,"sources":[{"source":"rapl","ok":false,"message":"x"}]}],"total":3})";
    const std::string text = render_top(parsed(sample), url, {}, no_colours);
    CHECK(text.ends_with(
        "NODE\na\nb (in part)\nc (down)\n"
        "in part: b rapl: energy_uj may not be read: run the agent as root (and 1 source: binnacle "
        "status)\n"));
  }

  TEST_CASE("a node that is odd beside the others is marked, and what is odd stands below") {
    const char* const sample =
        R"({"nodes":[{"name":"a","connected":true,"sources":[{"source":"os","ok":true}],"warning":"node a: it lies"}],"total":1})";
    CHECK(render_top(parsed(sample), url, {}, no_colours)
              .ends_with("NODE\na (in part)\nin part: node a: it lies\n"));
  }

  TEST_CASE("columns can be added by name, with the unit that the server tells") {
    const std::string text =
        render_top(parsed(nodes_sample), url, {"os_memory_available_bytes", "unheard_of"}, no_colours);
    CHECK(text.find("os_memory_available_bytes AGE") != std::string::npos);
    CHECK(text.find("8 GiB 480ms") != std::string::npos);
    CHECK(text.find("120.6 KiB 450ms") != std::string::npos);
    CHECK(text.find("- not read yet") != std::string::npos);
    CHECK(text.find("unheard_of AGE") != std::string::npos);
  }

  TEST_CASE("a counter that never moved is no number, and says so") {
    const char* const sample =
        R"({"metrics":[{"name":"host_power_watts","unit":"watts"}],"nodes":[{"name":"a","connected":true,
          "values":{"host_power_watts":{"absent":"never_moved","ageMs":300}}}],"total":1})";
    const std::string text = render_top(parsed(sample), url, {}, no_colours);
    CHECK_MESSAGE(text.find("- never moved") != std::string::npos, text);
    CHECK(text.find("0 W") == std::string::npos);
  }

  TEST_CASE("many policies share one column") {
    std::string verdicts;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      verdicts += std::string(verdicts.empty() ? "" : ",") + R"({"policy":"default/)" + name +
                  R"(","strategy":"dontschedule","state":"violating","rule":"x LessThan 1"})";
    }
    const std::string text = render_top(
        parsed((R"({"nodes":[{"name":"n","connected":true,"verdicts":[)" + verdicts + R"(]}],"total":1})")
                   .c_str()),
        url, {}, no_colours);
    CHECK(text.find("NODE  WHY\nn     a dontschedule: x LessThan 1; b dontschedule: x LessThan 1; "
                    "c dontschedule: x LessThan 1; and 2 more\n") != std::string::npos);
  }

  TEST_CASE("a rule's metric that has no column is shown with its value") {
    const std::string text = render_top(
        parsed(R"({"nodes":[{"name":"n","connected":true,"values":{"inlet_celsius":{"value":31.5,"ageMs":5}},
          "verdicts":[{"policy":"default/p","strategy":"deschedule","state":"violating","rule":"inlet_celsius GreaterThan 30"}]}],
          "total":1})"),
        url, {}, no_colours);
    CHECK(text.find("deschedule: inlet_celsius GreaterThan 30, now 31.5\n") != std::string::npos);
  }

  TEST_CASE("a metric that nobody has is said, with the name that was meant") {
    const std::vector<std::string> wanted{"rapl_power_wats", "os_memory_available_bytes"};
    CHECK(metrics_without_value(parsed(nodes_sample), wanted) == std::vector<std::string>{"rapl_power_wats"});
    const std::string text = render_top(parsed(nodes_sample), url, wanted, no_colours);
    CHECK(text.find("no node has a value of rapl_power_wats: did you mean rapl_power_watts?\n") !=
          std::string::npos);
    CHECK(text.find("of os_memory") == std::string::npos);
  }

  TEST_CASE("without nodes it says what to do") {
    CHECK(render_top(parsed(R"({"nodes":[],"total":0,"time":"T"})"), url, {}, no_colours) ==
          "binnacle top  T  0 of 0 nodes connected  https://localhost:9102\n"
          "\n"
          "no node has connected yet: start binnacle-agent with --aggregator pointing here\n");
  }
}

TEST_SUITE("cli/views/why") {
  TEST_CASE("a filter says which nodes passed, which did not and why, with value, target, margin and age") {
    CHECK(render_decision({parsed(filter_sample), url}, 1'767'268'812'000, no_colours) ==
          "filter of pod default/web-7f9c4: 3 of 4 nodes pass\n"
          "2026-01-01T12:00:00Z (12.0s ago), decision 7 of https://localhost:9102\n"
          "policy default/power, anyOf: rapl_power_watts GreaterThan 60, inlet_celsius GreaterThan 30.5\n"
          "\n"
          "NODE    VERDICT             METRIC            VALUE  TARGET  MARGIN    AGE\n"
          "node-b  refused             rapl_power_watts   71.4  > 60     +11.4  180ms\n"
          "                            inlet_celsius      21.5  > 30.5      -9  900ms\n"
          "node-a  passed              rapl_power_watts   22.1  > 60     -37.9  210ms\n"
          "                            inlet_celsius     stale  > 30.5           1m1s\n"
          "node-x  passed: never seen\n"
          "and 1 node more (--all-nodes shows them)\n");
    json::value cut = parsed(filter_sample);
    cut.as_object()["cut"] = true;
    CHECK(render_decision({cut, url}, 0, no_colours)
              .ends_with("and 1 node more, for which the answer had no room (--node NAME shows one)\n"));
  }

  TEST_CASE("what no policy judged leads to no flag that would show nothing") {
    const auto record = parsed(
        R"({"id":2,"time":"2026-01-01T12:00:01Z","unixMs":1,"verb":"filter","outcome":"no_label","pod":{"namespace":"default","name":"web-3"},
            "policy":null,"rules":[],"candidates":2,"summary":"all nodes pass","nodes":[],"nodesOmitted":2})");
    CHECK(render_decision({record, url}, 0, no_colours) ==
          "all nodes pass\n"
          "2026-01-01T12:00:01Z, decision 2 of https://localhost:9102\n"
          "asked about 2 nodes\n");
  }

  TEST_CASE("a pod that is spread says by what, and why a node was refused, also without a policy") {
    const auto record = parsed(
        R"({"id":9,"time":"2026-01-01T12:00:01Z","unixMs":1,"verb":"filter","outcome":"no_label","dryRun":false,
            "pod":{"namespace":"default","name":"web-2"},"policy":null,"rules":[],"candidates":2,"passed":1,"refused":1,
            "spread":{"state":"spreading","text":"podspread-rate 1 of ReplicaSet web: …"},
            "summary":"filter for pod default/web-2: no label telemetry-policy, spread by podspread-rate: 1 of 2 nodes pass",
            "nodes":[{"node":"a1","verdict":"refused_spread","values":[]},{"node":"b1","verdict":"passed","values":[]}],"nodesOmitted":0})");
    CHECK(render_decision({record, url}, 0, no_colours) ==
          "filter for pod default/web-2: no label telemetry-policy, spread by podspread-rate: 1 of 2 nodes "
          "pass\n"
          "2026-01-01T12:00:01Z, decision 9 of https://localhost:9102\n"
          "spread: podspread-rate 1 of ReplicaSet web: …\n"
          "\n"
          "NODE  VERDICT          METRIC  VALUE  TARGET  MARGIN  AGE\n"
          "a1    refused: spread\n"
          "b1    passed\n");
  }

  TEST_CASE("where nodes are ranked by a price, the column says so, and that of a slope does not") {
    const auto told = [](const std::string& objective) {
      const std::string record =
          R"({"id":3,"time":"2026-01-01T12:00:01Z","unixMs":1,"verb":"prioritize","outcome":"decided","dryRun":false,
              "pod":{"namespace":"default","name":"web-4"},
              "policy":{"namespace":"default","name":"watts","objective":")" +
          objective +
          R"(","podCores":1.000},"rules":[],"candidates":1,"summary":"one node scored",
              "nodes":[{"node":"a","verdict":"scored","score":10,
                        "power":{"cost":"known","loadCores":1.000,"inFlightCores":0.000,"wattsNow":202.500,
                                 "wattsWithPod":205.000,"wattsPerCore":2.722,"model":"node","modelAgeSeconds":48,
                                 "coveredPercent":62,"noisePercent":1.2},
                        "values":[{"value":"0.1","ageMs":180}]}],"nodesOmitted":0})";
      return render_decision({parsed(record.c_str()), url}, 0, no_colours);
    };
    CHECK_MESSAGE(told("BestChord").find("W WITH POD  PRICE W/CORE  LOAD") != std::string::npos,
                  told("BestChord"));
    CHECK_MESSAGE(told("BestChord").find("       205.0          2.72   1.0") != std::string::npos,
                  told("BestChord"));
    CHECK_MESSAGE(told("Marginal").find("W WITH POD  W/CORE  LOAD") != std::string::npos, told("Marginal"));
    CHECK_MESSAGE(told("Marginal").find("Marginal, a pod of 1 core\n") != std::string::npos,
                  told("Marginal"));
  }

  TEST_CASE("defect: of a node without a model server's curve nothing led to the reason") {
    const auto told = [](const std::string& policy, const std::string& model) {
      const std::string record =
          R"({"id":3,"time":"2026-01-01T12:00:01Z","unixMs":1,"verb":"prioritize","outcome":"decided","dryRun":false,
              "pod":{"namespace":"default","name":"web-4"},
              "policy":{"namespace":"default","name":"watts","objective":"BestChord","podCores":1.000)" +
          policy + R"(},"rules":[],"candidates":1,"summary":"one node scored",
              "nodes":[{"node":"a","verdict":"unscored","score":0,
                        "power":{"cost":"unknown","inFlightCores":0.000)" +
          model + R"(},"values":[{"value":"0.1","ageMs":180}]}],"nodesOmitted":0})";
      return render_decision({parsed(record.c_str()), url}, 0, no_colours);
    };
    const std::string hint =
        "\nonly curves of model servers count (model: External): binnacle power NODE says why a node has "
        "none\n";
    const std::string external = R"(,"onlyExternal":true)";
    CHECK_MESSAGE(told(external, "").ends_with(hint), told(external, ""));
    CHECK_FALSE(told(external, R"(,"model":"server","modelAgeSeconds":48)").ends_with(hint));
    CHECK_FALSE(told("", "").ends_with(hint));
  }

  TEST_CASE("a prioritize says the scores") {
    CHECK(render_decision({parsed(prioritize_sample), url}, 0, no_colours) ==
          "prioritize of pod default/web-7f9c4: node-a is best\n"
          "2026-01-01T12:00:01Z, decision 8 of https://localhost:9102\n"
          "policy default/power in dry run: rapl_power_watts LessThan 30\n"
          "\n"
          "NODE    VERDICT                              SCORE  METRIC                   VALUE    AGE\n"
          "node-a  scored, less 2 for pods just placed      8  rapl_power_watts          22.1  210ms\n"
          "node-c  no data                                  0  rapl_power_watts  not read yet\n"
          "node-d  partial: no score                        0  rapl_power_watts           9.5   80ms\n");
  }

  TEST_CASE("of several replicas' decisions the newest of each verb is shown, or all, newest first") {
    const auto record = [](int at, const char* verb, const char* pod) {
      return parsed((R"({"unixMs":)" + std::to_string(at) + R"(,"verb":")" + verb +
                     R"(","pod":{"namespace":"d","name":")" + pod + "\"}}")
                        .c_str());
    };
    const std::vector<told_decision> told = {{record(10, "filter", "a"), "one"},
                                             {record(30, "filter", "a"), "two"},
                                             {record(20, "prioritize", "a"), "one"},
                                             {record(5, "filter", "b"), "two"}};
    const auto times = [](const std::vector<told_decision>& decisions) {
      std::vector<std::int64_t> at;
      for (const auto& d : decisions) at.push_back(integer(d.record, "unixMs"));
      return at;
    };
    CHECK(times(newest_first(told, false)) == std::vector<std::int64_t>{30, 20, 5});
    CHECK(times(newest_first(told, true)) == std::vector<std::int64_t>{30, 20, 10, 5});
  }
}

TEST_SUITE("cli/views/policies") {
  TEST_CASE("nothing that a terminal obeys comes through from a server, in whatever list it stands") {
    const char* const bad = "n\u202e1";
    const std::string listed = render_policies(
        json::object{{"policies",
                      json::array{json::object{
                          {"namespace", bad},
                          {"name", bad},
                          {"strategies",
                           json::array{json::object{
                               {"strategy", "deschedule"},
                               {"rules", json::array{bad}},
                               {"violating", json::object{{"count", 1}, {"nodes", json::array{bad}}}}}}}}}}},
        no_colours);
    CHECK(listed == "n?1/n?1\n  deschedule\n    n?1\n    violating: n?1\n");
    const std::string status =
        render_status(json::object{{"warnings", json::array{"a\u2066b\x1b[2J"}}}, url, no_colours);
    CHECK(status.find("a?b?[2J\n") != std::string::npos);
  }

  TEST_CASE("policies are listed with their rules, the nodes that they concern, and what is wrong") {
    CHECK(render_policies(parsed(policies_sample), no_colours) ==
          "default/power\n"
          "  dontschedule anyOf onMissing Reject\n"
          "    rapl_power_watts GreaterThan 60\n"
          "    inlet_celsius GreaterThan 30\n"
          "    violating: n1, n2, n3, n4, n5, n6, n7, n8 and 2 more\n"
          "    missing: n11\n"
          "  scheduleonmetric\n"
          "    rapl_power_watts LessThan 30\n"
          "  label power=violating: n1, n2\n"
          "lab/heat (dry run: nothing is enforced)\n"
          "  deschedule maxNodes 20% coolDown 10m\n"
          "    inlet_celsius GreaterThan 35\n"
          "  would label heat=violating: n1, n2 and 1 more\n"
          "MetricMissing default/power dontschedule: no node has a value of inlet_celsius\n"
          "power.yaml:12: error: spec.strategies.dontschedule.rules[0].target: '60.5' is no whole number: "
          "write targetQuantity: 60.5\n"
          "b.yaml: warning: is empty\n");
    CHECK(render_policies(parsed("{}"), no_colours) == "no policy is in force\n");
    const auto costs = parsed(
        R"({"policies":[{"namespace":"a","name":"p","strategies":[],"takes":)"
        R"({"memory":3145728,"columns":1,"labelKeys":0,"rules":2,"evaluations":400}}],"budget":{"nodes":5000,)"
        R"("memory":{"taken":3145728,"limit":536870912,"namespaceLimit":402653184,"policyLimit":268435456},)"
        R"("columns":{"taken":1,"limit":1000,"namespaceLimit":750,"policyLimit":500}}})");
    const std::string listed = render_policies(costs, no_colours);
    CHECK(listed.find("  takes 3.0 MiB, 1 column, 0 label keys, 2 rules, 400 evaluations a second\n") !=
          std::string::npos);
    CHECK(listed.find("at 5000 nodes all policies take\n"
                      "  3.0 MiB of 512.0 MiB (a namespace 384.0 MiB, a policy 256.0 MiB)\n"
                      "  1 column of 1000 columns (a namespace 750 columns, a policy 500 columns)\n") !=
          std::string::npos);
    CHECK(render_policies(parsed(R"({"policies":[],"budget":{"nodes":1}})"), no_colours)
              .find("at 1 node all policies take\n") != std::string::npos);
    CHECK_FALSE(has_errors(parsed("{}")));
    CHECK_FALSE(has_errors(parsed(R"({"problems":[{"severity":"warning"},{"severity":"hint"}]})")));
    CHECK(has_errors(parsed(R"({"problems":[{"severity":"warning"},{"severity":"error"}]})")));
    const auto of_no_file =
        parsed(R"({"conditions":[{"policy":"a/hot","type":"Conflict","message":"two of it"}],)"
               R"("problems":[{"severity":"error","message":"the folder cannot be read"}]})");
    CHECK(render_policies(of_no_file, no_colours) ==
          "no policy is in force\nConflict a/hot: two of it\nerror: the folder cannot be read\n");
  }
}

}  // namespace views_test
