#include "cli/views/power.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace power_view_test {

using namespace binnacle::cli;

std::string render(const std::string& answer) {
  return render_power(boost::json::parse(answer), paint{false});
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_SUITE("cli/views/power") {
  TEST_CASE("a node that measured half of its loads says which, and where the rest is from") {
    const auto text = render(
        R"({"node":"worker-7","loadRatio":0.48,"watts":212.4,"model":{"source":"node","hardware":"2 x EPYC","meter":"dcmi",
            "others":7,"coveredPercent":62,"coveredFrom":0,"coveredTo":0.55,"noisePercent":1.2,"samples":4711,"outliers":3,
            "meterStuck":false,"ageSeconds":48,"cores":64,"predictedWatts":215.0,
            "curve":[{"load":0,"watts":100,"samples":600},{"load":0.5,"watts":200,"samples":12},{"load":1,"watts":400}]}})");
    CHECK_MESSAGE(has(text, "worker-7 212.4 W at 48 % load, its curve says 215.0 W"), text);
    CHECK_MESSAGE(has(text,
                      "learned from its own meter (dcmi), and at loads that it never had from 7 nodes with "
                      "the same hardware (2 x EPYC)"),
                  text);
    CHECK_MESSAGE(has(text, "62 % of its loads, between 0 and 55 %; ±1.2 %"), text);
    CHECK_MESSAGE(has(text, "4711, 3 left out; the curve is 48.0s old"), text);
    CHECK_MESSAGE(has(text, " 50 %  200.0       12  ####################  <- now"), text);
    CHECK_MESSAGE(has(text, "100 %  400.0           ......................................."), text);
    CHECK_FALSE(has(text, "stands still"));
  }

  TEST_CASE("where neither the node nor one like it has ever been, the curve is said to be a guess") {
    const auto with = [](const std::string& known) {
      return render(
          R"({"node":"a","model":{"source":"node","others":1,"coveredPercent":20,"coveredFrom":0.2,"coveredTo":0.5,)" +
          known +
          R"("noisePercent":1,"ageSeconds":3,"cores":64,"curve":[{"load":0,"watts":100},{"load":0.25,"watts":150},)"
          R"({"load":0.5,"watts":200,"samples":12},{"load":0.75,"watts":300},{"load":1,"watts":400}]}})");
    };
    const auto text = with(R"("knownFrom":0.2,"knownTo":0.75,)");
    CHECK_MESSAGE(
        has(text,
            "curve     a guess below 20 % load, idle included, and above 75 %: neither it nor a node "
            "like it was ever there"),
        text);
    CHECK_MESSAGE(has(text, "  0 %  100.0           ??????????\n"), text);
    CHECK_MESSAGE(has(text, " 25 %  150.0           ...............\n"), text);
    CHECK_MESSAGE(has(text, "100 %  400.0           ????????????????????????????????????????\n"), text);
    CHECK_MESSAGE(has(with(R"("knownFrom":0,"knownTo":0.5,)"), "a guess above 50 % load: neither"), "");
    CHECK_FALSE(has(with(R"("knownFrom":0,"knownTo":1,)"), "a guess below"));
    CHECK_FALSE(has(with(R"("knownFrom":0,"knownTo":1,)"), "curve     a guess"));
    CHECK(model_words(boost::json::parse(
              R"({"model":"node","coveredPercent":20,"noisePercent":1.2,"idleGuessed":true})")) ==
          "the node's own, 20 % of its loads, ±1.2 %, idle guessed");
    CHECK(model_words(boost::json::parse(R"({"model":"class","idleGuessed":true})")) ==
          "that of similar nodes, idle guessed");
  }

  TEST_CASE("defect: a load with a few samples was a guess in one line and measured in the other") {
    const auto text = render(
        R"({"node":"a","model":{"source":"node","others":1,"coveredPercent":9,"coveredFrom":0.75,"coveredTo":0.75,)"
        R"("knownFrom":0.5,"knownTo":0.75,"noisePercent":1,"ageSeconds":3,"cores":64,"curve":[{"load":0,"watts":100},)"
        R"({"load":0.25,"watts":150,"samples":9},{"load":0.5,"watts":200,"samples":9},)"
        R"({"load":0.75,"watts":300,"samples":10},{"load":1,"watts":400}]}})");
    CHECK_MESSAGE(has(text, "a guess below 50 % load"), text);
    CHECK_MESSAGE(has(text, " 25 %  150.0        9  ???????????????\n"), text);
    CHECK_MESSAGE(has(text, " 50 %  200.0        9  ....................\n"), text);
    CHECK_MESSAGE(has(text, " 75 %  300.0       10  ##############################\n"), text);
    CHECK_MESSAGE(has(text, "#: measured here, with 10 samples or more, "), text);
  }

  TEST_CASE("a node without a meter says whose curve it has") {
    const auto text = render(
        R"({"node":"a","model":{"source":"class","others":1,"ageSeconds":3,"meterStuck":true,"curve":[{"load":0,"watts":100},{"load":1,"watts":400}]}})");
    CHECK_MESSAGE(has(text, "a says nothing of itself now"), text);
    CHECK_MESSAGE(has(text, "learned from 1 node with the same hardware"), text);
    CHECK_MESSAGE(has(text, "it has not measured itself yet"), text);
    CHECK_MESSAGE(has(text, "its meter stands still"), text);
  }

  TEST_CASE(
      "a node with a model server names it, says which inputs nobody measures, and why it is of no use") {
    std::string curve = R"({"load":0,"watts":100})";
    for (int i = 1; i <= 100; ++i)
      curve += R"(,{"load":)" + std::to_string(0.01 * i) + R"(,"watts":)" + std::to_string(100 + i) + "}";
    const auto text = render(
        R"({"node":"a","loadRatio":0.5,"modelServerTrouble":"model server h:1: no answer in 500 ms",
            "model":{"source":"server","server":"http://h:1/v2/models/pc/infer","assumedInputs":1,"ageSeconds":48,"curve":[)" +
        curve + "]}}");
    CHECK_MESSAGE(has(text, "its model server, http://h:1/v2/models/pc/infer"), text);
    CHECK_MESSAGE(has(text, "one is measured by nobody, so typical values stand for them"), text);
    CHECK_MESSAGE(has(text, "48.0s ago"), text);
    CHECK_MESSAGE(has(text, "trouble with its model server: model server h:1: no answer in 500 ms"), text);
    CHECK_MESSAGE(has(text, " 50 %  150.0"), text);
    CHECK_MESSAGE(std::ranges::count(text, '\n') < 30, "every fifth of a hundred points");
    CHECK(has(render(R"({"node":"a","model":null,"modelServerTrouble":"the label cpu2/min is missing"})"),
              "the label cpu2/min is missing"));
  }

  TEST_CASE("what was learned beside a model server's curve is named in a line") {
    const auto with = [](const std::string& learned) {
      return render(
          R"({"node":"a","loadRatio":0.5,"model":{"source":"server","server":"http://h:1","ageSeconds":48,"predictedWatts":215.0,)"
          R"("curve":[{"load":0,"watts":100},{"load":1,"watts":200}]})" +
          learned + "}");
    };
    const auto text = with(
        R"(,"learned":{"source":"node","meter":"dcmi","predictedWatts":180.0,"curve":[{"load":0,"watts":90},{"load":1,"watts":270}]})");
    CHECK_MESSAGE(has(text, "its curve says 215.0 W"), text);
    CHECK_MESSAGE(
        has(text,
            "asked     48.0s ago\nbesides   learned from its own meter (dcmi); it says 180.0 W; policies "
            "with model: Learned take it\n"),
        text);
    for (const char* none : {"", R"(,"learned":null)", R"(,"learned":{"source":"node"})"})
      CHECK_FALSE(has(with(none), "besides"));
  }

  TEST_CASE("a node whose meter measures its accelerators, too, is told so where watts are learned") {
    const auto with = [](const std::string& more, const std::string& source) {
      return render(R"({"node":"a","acceleratorsInWatts":8)" + more + R"(,"model":{"source":")" + source +
                    R"(","curve":[{"load":0,"watts":100},{"load":1,"watts":400}]}})");
    };
    const std::string said =
        "its meter also measures its 8 accelerators, so what is learned follows their jobs, too: docs/";
    CHECK(has(with("", "node"), said));
    CHECK(has(with("", "class"), said));
    CHECK_FALSE(has(with("", "rated"), said));
    CHECK(has(
        with("", "rated"),
        "source    a straight line between its rated watts: its meter also measures its 8 accelerators\n"));
    CHECK_FALSE(has(with("", "server"), said));
    CHECK(has(with(R"(,"learned":{"source":"node","curve":[{"load":0,"watts":1}]})", "server"), said));
    CHECK_MESSAGE(has(render(R"({"node":"a","acceleratorsInWatts":1,"model":null})"),
                      "its meter also measures its 1 accelerator, so"),
                  "and where nothing is known yet");
  }

  TEST_CASE("a node with rated watts says that they are no measurement, and why bad ones are of no use") {
    const auto text = render(
        R"({"node":"a","model":{"source":"rated","ageSeconds":3,"curve":[{"load":0,"watts":90},{"load":1,"watts":410}]}})");
    CHECK_MESSAGE(has(text, "a straight line between its rated watts: nobody has measured such a node"),
                  text);
    CHECK_FALSE(has(text, "samples"));
    const auto none = render(R"({"node":"a","model":null,"ratedTrouble":"rated_peak_watts is missing"})");
    CHECK_MESSAGE(has(none, "its rated watts are of no use: rated_peak_watts is missing"), none);
    CHECK(model_words(boost::json::parse(R"({"model":"rated"})")) == "its rated watts");
  }

  TEST_CASE("a node of which nothing is known says so of its meter, if that stands still") {
    const auto text = render(R"({"node":"a","meterTrouble":"its meter (dcmi) stands still","model":null})");
    CHECK_MESSAGE(has(text, "\nits meter (dcmi) stands still\nNothing is known of its watts yet"), text);
  }

  TEST_CASE("defect: a learned curve that no policy takes was shown as if it counted") {
    const std::string said = "no policy takes this curve: all policies with minimizepower say";
    const std::string curve = R"("curve":[{"load":0,"watts":100},{"load":1,"watts":400}]}})";
    const auto learned = render(R"({"node":"a","onlyExternal":true,"model":{"source":"node",)" + curve);
    CHECK_MESSAGE(has(learned, said), learned);
    CHECK_FALSE(has(render(R"({"node":"a","model":{"source":"node",)" + curve), said));
    CHECK_FALSE(has(render(R"({"node":"a","onlyExternal":true,"model":{"source":"server",)" + curve), said));
    const auto none = render(R"({"node":"a","onlyExternal":true,"model":null})");
    CHECK_MESSAGE(has(none, "they have no opinion of this node"), none);
    CHECK_FALSE(has(none, "rated_idle_watts"));
  }

  TEST_CASE("a node whose curve was learned again says how often, and why") {
    const auto text = render(
        R"({"node":"a","model":{"source":"node","restarts":2,"restartedFor":"its meter (dcmi) stood still while its load moved",
            "curve":[{"load":0,"watts":100},{"load":1,"watts":400}]}})");
    CHECK_MESSAGE(
        has(text,
            "learned from nothing again 2 times, the last time because its meter (dcmi) stood still "
            "while its load moved"),
        text);
  }

  TEST_CASE("nothing known, and answers of another version, end in a sentence") {
    for (const char* answer : {R"({"node":"a","model":null})", R"({"node":"a"})", "{}", "[]",
                               R"({"node":"a","model":{"curve":"new"}})", R"({"model":{"curve":[]}})"}) {
      CAPTURE(answer);
      CHECK(has(render(answer), "Nothing is known of its watts yet"));
    }
    CHECK(has(render(R"({"model":{"curve":[7]}})"), "LOAD"));
  }
}

}  // namespace power_view_test
