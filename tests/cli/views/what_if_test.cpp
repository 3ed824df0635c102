#include "cli/views/what_if.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <string>

namespace what_if_view_test {

using namespace binnacle::cli;

std::string render(const std::string& answer) {
  return render_what_if(boost::json::parse(answer), paint{false});
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string answer =
    R"({"time":"2026-01-01T12:00:00Z","policy":"default/fewer-watts","mode":"Enforce","objective":"BestChord","maxLoad":0.9,
        "pods":20,"cpu":"4","podCores":4.000,"placed":18,"knownNodes":3,"wattsNow":512.4,"wattsThen":872.4,
        "nodes":[{"node":"flat","pods":12,"cores":64,"loadCores":5.400,"inFlightCores":4.000,"loadCoresThen":57.400,
                  "wattsNow":212.4,"wattsThen":356.4,"full":true,"model":"node","modelAgeSeconds":48,"coveredPercent":62,"noisePercent":1.2},
                 {"node":"steep","pods":6,"cores":32,"loadCores":1.000,"inFlightCores":0.000,"loadCoresThen":25.000,
                  "wattsNow":100.0,"wattsThen":316.0,"full":true,"model":"class","modelAgeSeconds":125,"coveredPercent":0,"noisePercent":0.0}],
        "full":{"count":3,"nodes":["flat","steep","third"]},
        "leftOut":[{"reason":"refused","count":1,"nodes":["hot"]},{"reason":"noLoad","count":1,"nodes":["away"]},
                   {"reason":"noMeter","count":12,"nodes":["m1","m2","m3","m4","m5","m6","m7","m8","m9","m10"]},
                   {"reason":"badRated","count":1,"nodes":["kilo"]},{"reason":"learning","count":1,"nodes":["new"]}]})";

TEST_SUITE("cli/views/what_if") {
  TEST_CASE("what the pods would cost, where they would go, and who takes none, each with a remedy") {
    const auto text = render(answer);
    for (const char* part :
         {"20 pods of 4 CPU by policy default/fewer-watts (BestChord up to 90 % load): 360.0 W more, 5.00 W "
          "a core\n",
          "NODE   PODS  BUSY NOW  BUSY THEN  CORES  W NOW  W THEN  W MORE  MODEL                             "
          "           AGE\n",
          "flat     12       9.4       57.4     64  212.4   356.4   144.0  the node's own, 62 % of its "
          "loads, ±1.2 %  48.0s\n",
          "steep     6       1.0       25.0     32  100.0   316.0   216.0  that of similar nodes", "2m5s\n",
          "total    18                              312.4   672.4   360.0",
          "All 3 nodes with a model together: 512.4 W now, 872.4 W then, by their curves.\n",
          "2 pods without room: one more would fill each node with a model beyond maxLoad, 90 %. "
          "kube-scheduler "
          "would place them all the same, if their requests fit.\n",
          "no room for one more pod on 3 nodes: flat, steep, third\n",
          "1 node refused by the policy's dontschedule: hot\n",
          "1 node without a CPU load now: away (see that the agent runs there, binnacle doctor)\n",
          "12 nodes without a model and without host_power_watts: m1, m2, m3, m4, m5, m6, m7, m8 and 4 more "
          "(give "
          "the node a meter, or one node with the same hardware)\n",
          "1 node without a model and without host_power_watts, whose rated watts are of no use: kilo (see "
          "binnacle power NODE)\n",
          "1 node whose watts are not known yet: new (wait for some minutes, and see binnacle power NODE)\n",
          "CPU and watts only: not memory"}) {
      CAPTURE(part);
      CHECK_MESSAGE(has(text, part), text);
    }
  }

  TEST_CASE("defect: where only model servers count, nobody is told to wait or to buy a meter") {
    const auto text = render(
        R"({"policy":"default/x","objective":"BestChord","maxLoad":0.9,"pods":1,"cpu":"1","podCores":1,"placed":0,
            "knownNodes":0,"full":{"count":0,"nodes":[]},"leftOut":[{"reason":"noServer","count":1,"nodes":["a"]}]})");
    CHECK_MESSAGE(has(text,
                      "1 node without a curve of a model server, and the policy asks for no other model: a "
                      "(see binnacle status and binnacle power NODE, or take model: Auto)\n"),
                  text);
  }

  TEST_CASE("a dry run is said, and a fleet of which nothing is known") {
    const auto text = render(
        R"({"policy":"default/x","mode":"DryRun","objective":"WaoV2","pods":1,"cpu":"500m","podCores":0.25,"placed":0,
            "knownNodes":0,"wattsNow":0.0,"wattsThen":0.0,"nodes":[],"full":{"count":0,"nodes":[]},
            "leftOut":[{"reason":"learning","count":1,"nodes":["a"]}]})");
    CHECK_MESSAGE(has(text, "1 pod of 500m CPU by policy default/x (WaoV2), as if it were enforced\n"), text);
    CHECK_MESSAGE(
        has(text,
            "1 pod without room: no node has a model and a load. kube-scheduler would place them by "
            "its own plug-ins.\n"),
        text);
    CHECK_FALSE(has(text, "PODS"));
    const auto wao = render(R"({"objective":"WaoV2","pods":3,"placed":1,"knownNodes":1})");
    CHECK_MESSAGE(has(wao, "2 pods without room: no node with a model has the cores free."), wao);
  }

  TEST_CASE("answers of another version are shown as far as they go") {
    for (const char* other :
         {"{}", "[]",
          R"({"pods":3,"placed":3,"nodes":[7,{"node":1}],"full":[],"leftOut":[{"reason":"tired"}]})"}) {
      CAPTURE(other);
      CHECK(has(render(other), "CPU and watts only"));
    }
  }
}

}  // namespace what_if_view_test
