#include "cli/doctor/report.hpp"

#include "cli/doctor/checks.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace report_test {

namespace {

using namespace binnacle::cli;
using namespace binnacle::cli::doctor;

const std::vector<chapter> sample{
    {"kernel", {ok("Linux 6.1")}},
    {"ingest",
     {failure("the agent cannot reach a:9110: Connection refused", "is it up?"), warning("slow", "wait")}},
    {"clocks", {unchecked("no other clock could be asked", "give --aggregator")}},
};

TEST_SUITE("cli/doctor/report") {
  TEST_CASE("a page has a line for each finding and what to do below it") {
    CHECK(as_text("n1", sample, {}, 60) ==
          "binnacle doctor on n1\n"
          "\n"
          "kernel        ok         Linux 6.1\n"
          "\n"
          "ingest        failure    the agent cannot reach a:9110:\n"
          "                         Connection refused\n"
          "                         mend: is it up?\n"
          "              warning    slow\n"
          "                         mend: wait\n"
          "\n"
          "clocks        unchecked  no other clock could be asked\n"
          "                         hint: give --aggregator\n"
          "\n"
          "1 failure, 1 warning; 1 ok, 1 not checked from here.\n");
  }

  TEST_CASE("what a terminal would obey never leaves, whoever said it") {
    const std::vector<chapter> said{{"agent",
                                     {warning("a label \xc2\x9b"
                                              "31mred",
                                              "see \x1b[2J")}}};
    const std::string text = as_text("n1", said, {}, 60);
    CHECK(text.find("a label ?31mred\n") != std::string::npos);
    CHECK(text.find("mend: see ?[2J\n") != std::string::npos);
    CHECK(as_json("n1", said).find(R"(a label \u009b31mred)") != std::string::npos);
  }

  TEST_CASE("colours change nothing but colours") {
    std::string painted = as_text("n1", sample, paint{true}, 60);
    CHECK(painted.find("\x1b[31mfailure\x1b[0m") != painted.npos);
    for (auto at = painted.find('\x1b'); at != painted.npos; at = painted.find('\x1b'))
      painted.erase(at, painted.find('m', at) - at + 1);
    CHECK(painted == as_text("n1", sample, {}, 60));
  }

  TEST_CASE("the JSON has every finding, and a remedy only where there is one") {
    const auto said = boost::json::parse(as_json("n1", sample));
    CHECK(said.at("failures") == 1);
    CHECK(said.at("warnings") == 1);
    CHECK(said.at("unchecked") == 1);
    CHECK(said.at("findings").as_array().size() == 4);
    CHECK(said.at("findings").at(0).as_object().if_contains("remedy") == nullptr);
    CHECK(said.at("findings").at(1).at("grade") == "failure");
    CHECK(said.at("findings").at(1).at("remedy") == "is it up?");
  }

  TEST_CASE("every check has a name of its own and looks") {
    std::set<std::string_view> names;
    for (const auto& c : checks()) {
      CHECK(names.insert(c.name).second);
      const bool looks = c.look != nullptr;
      CHECK(looks);
      CHECK_FALSE(c.summary.empty());
    }
  }
}

}  // namespace

}  // namespace report_test
