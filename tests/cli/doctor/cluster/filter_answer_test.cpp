#include "cli/doctor/cluster/filter_answer.hpp"

#include "tests/cli/doctor/finding_words.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <string>

namespace filter_answer_test {

namespace {

using namespace binnacle;
namespace json = boost::json;
using namespace binnacle::cli;
using namespace binnacle::cli::doctor;
using namespace std::chrono_literals;

TEST_SUITE("cli/doctor/cluster/filter_answer") {
  TEST_CASE("the answer to a filter call must have the node in it") {
    const auto judged = [](unsigned status, std::string body) {
      http::answer a;
      a.status = status;
      a.body = std::move(body);
      return finding_of_filter_answer("https://a:9001/scheduler/filter", a, "with your certificate", 3ms);
    };
    CHECK(judged(200, R"({"NodeNames":["binnacle-doctor"],"Error":""})").how == grade::ok);
    CHECK(judged(200, R"({"Nodes":{"items":[{"metadata":{"name":"binnacle-doctor"}}]},"NodeNames":null})")
              .how == grade::ok);
    CHECK(says(judged(200, R"({"NodeNames":[]})"), "refuses a node"));
    CHECK(says(judged(200, R"({"Error":"no room"})"), "no room"));
    CHECK(says(judged(200, "<html>"), "not a JSON object"));
    CHECK(says(judged(401, "{}"), "refuses the caller with your certificate"));
    CHECK(judged(404, "{}").remedy.find("scheduler/filter") != std::string::npos);
  }

  TEST_CASE("the question names one node in either form, and is JSON") {
    CHECK(json::parse(filter_question(true)).at("NodeNames").at(0) == "binnacle-doctor");
    CHECK(json::parse(filter_question(false)).at("Nodes").at("items").at(0).at("metadata").at("name") ==
          "binnacle-doctor");
  }
}

}  // namespace

}  // namespace filter_answer_test
