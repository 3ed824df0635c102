#include "cli/dashboard/fleet.hpp"

#include "cli/dashboard/topic.hpp"
#include "tests/cli/samples.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

namespace fleet_test {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::dashboard;
using namespace std::chrono_literals;

json::value nodes(const std::string& list, const std::string& metrics = R"([{"name":"p","unit":"watts"}])") {
  return json::parse(R"({"metrics":)" + metrics + R"(,"nodes":[)" + list + R"(],"total":9,"omitted":0})");
}

std::string node(const std::string& name, const std::string& value, const std::string& verdicts = "[]",
                 const std::string& connected = "true") {
  return R"({"name":")" + name + R"(","connected":)" + connected + R"(,"seenMs":3,"values":{"p":)" + value +
         R"(},"verdicts":)" + verdicts + "}";
}

/// The nodes that a page with this version is told.
std::vector<std::string> told(const fleet& f, std::uint64_t version) {
  std::vector<std::string> names;
  const json::value change = json::parse(f.since(version));
  for (const auto& n : list(change, "nodes")) names.push_back(text(n, "name"));
  return names;
}

TEST_SUITE("cli/dashboard/fleet") {
  TEST_CASE("the whole fleet is told as the API has it, with the time of a reading in place of its age") {
    fleet f;
    CHECK(f.version() == 0);
    f.take(json::parse(nodes_sample), 1'000'000);
    const json::value whole = json::parse(f.since(0));
    CHECK(flag(whole, "whole"));
    CHECK(integer(whole, "version") == 1);
    CHECK(integer(whole, "nowMs") == 1'000'000);
    CHECK(integer(whole, "total") == 3);
    CHECK(list(whole, "metrics") == list(json::parse(nodes_sample), "metrics"));
    const auto& all = list(whole, "nodes");
    REQUIRE(all.size() == 3);
    CHECK(to_text(all[1].at("head")) == R"({"connected":true})");
    CHECK(to_text(all[1].at("values").at("rapl_power_watts")) ==
          R"({"value":71.4,"partial":true,"readMs":999820})");
    CHECK(to_text(all[2].at("values").at("rapl_power_watts")) ==
          R"({"absent":"disconnected","readMs":984700})");
    CHECK(to_text(all[2].at("values").at("os_memory_available_bytes")) == R"({"absent":"not_read_yet"})");
    CHECK(all[0].at("verdicts") == json::parse(nodes_sample).at("nodes").at(0).at("verdicts"));
  }

  TEST_CASE("what the answer had no room for is told") {
    fleet f;
    f.take(json::parse(R"({"metrics":[],"nodes":[],"total":9,"omitted":9,"strategiesOmitted":3})"), 1000);
    CHECK(integer(json::parse(f.since(0)), "omitted") == 9);
    CHECK(integer(json::parse(f.since(0)), "strategiesOmitted") == 3);
    f.take(nodes(""), 2000);
    CHECK(f.since(0).find("strategiesOmitted") == std::string::npos);
  }

  TEST_CASE("a page is told what changed since what it has seen, and of a node only the parts that did") {
    fleet f;
    f.take(nodes(node("a", R"({"value":1,"ageMs":100})") + "," + node("b", R"({"value":1,"ageMs":100})")),
           1000);
    f.take(nodes(node("a", R"({"value":2,"ageMs":100})") + "," + node("b", R"({"value":1,"ageMs":1100})")),
           2000);
    CHECK(told(f, 1) == std::vector<std::string>{"a"});
    CHECK(told(f, 2).empty());
    const json::value change = json::parse(f.since(1));
    CHECK(!flag(change, "whole"));
    CHECK(to_text(list(change, "nodes")[0]) == R"({"name":"a","values":{"p":{"value":2,"readMs":1900}}})");
    f.take(nodes(node("a", R"({"value":2,"ageMs":1100})") + "," +
                 node("b", R"({"value":1,"ageMs":2100})", R"([{"state":"violating"}])", "false")),
           3000);
    CHECK(told(f, 2) == std::vector<std::string>{"b"});
    CHECK(told(f, 1) == std::vector<std::string>{"a", "b"});  // who missed a version gets both changes, once
    CHECK(to_text(list(json::parse(f.since(2)), "nodes")[0]) ==
          R"({"name":"b","head":{"connected":false},"verdicts":[{"state":"violating"}]})");
  }

  TEST_CASE("a value that was read again is told, though it is the same: it is younger") {
    fleet f;
    f.take(nodes(node("a", R"({"value":1,"ageMs":100})")), 10'000);
    f.take(nodes(node("a", R"({"value":1,"ageMs":1080})")), 11'000);  // the same reading, a slower way
    CHECK(told(f, 1).empty());
    f.take(nodes(node("a", R"({"value":1,"ageMs":100})")), 12'000);
    CHECK(told(f, 2) == std::vector<std::string>{"a"});
  }

  TEST_CASE("when a node has gone or the metrics change, every page is told everything") {
    fleet f;
    const std::string both =
        node("a", R"({"value":1,"ageMs":1})") + "," + node("b", R"({"value":1,"ageMs":1})");
    f.take(nodes(both), 1000);
    f.take(nodes(node("a", R"({"value":1,"ageMs":1001})")), 2000);
    CHECK(flag(json::parse(f.since(1)), "whole"));
    CHECK(told(f, 1) == std::vector<std::string>{"a"});
    CHECK(!flag(json::parse(f.since(2)), "whole"));
    f.take(nodes(node("a", R"({"value":1,"ageMs":2001})"), R"([{"name":"q","unit":""}])"), 3000);
    CHECK(flag(json::parse(f.since(2)), "whole"));
    CHECK(f.size() == 1);
  }

  TEST_CASE("an answer of another hand is taken as far as it makes sense") {
    fleet f;
    for (const char* odd : {"null", "[]", "{}", R"({"nodes":1})", R"({"nodes":[1,{"name":2},{}]})",
                            R"({"nodes":[{"name":"a","values":[],"verdicts":{}}],"total":"x"})",
                            R"({"nodes":[{"name":"a","values":{"p":7}}]})"}) {
      f.take(json::parse(odd), 1000);
      CHECK_NOTHROW((void)json::parse(f.since(0)));
    }
    CHECK(told(f, 0) == std::vector<std::string>{"a"});
  }
}

TEST_SUITE("cli/dashboard/topic") {
  TEST_CASE("what a page follows, and what the aggregator is asked for it") {
    CHECK(target_of(parse_topic("fleet").value(), {"a b", "c"}) == "/api/v1/nodes?metric=a%20b&metric=c");
    CHECK(target_of(parse_topic("status").value()) == "/api/v1/status");
    CHECK(target_of(parse_topic("node/rack1/a?b").value()) == "/api/v1/nodes/rack1%2Fa%3Fb");
    CHECK(target_of(parse_topic("node/..").value()) == "/api/v1/nodes/..");
    CHECK(target_of(parse_topic("labels/").value()) == "/api/v1/nodelabels");
    CHECK(target_of(parse_topic("labels/example.com/rack&x").value()) ==
          "/api/v1/nodelabels?key=example.com/rack%26x");
    CHECK(target_of(parse_topic("decisions/").value()) == "/api/v1/decisions?limit=40");
    CHECK(target_of(parse_topic("decisions/a&all=true").value()) ==
          "/api/v1/decisions?limit=40&pod=a%26all%3Dtrue");
  }

  TEST_CASE("an unknown topic is refused") {
    for (const std::string& odd :
         {std::string(), std::string("nodes"), std::string("node"), std::string("node/"),
          std::string("fleet/x"), std::string("decisions"), "node/" + std::string(513, 'x')}) {
      INFO(odd);
      CHECK(parse_topic(odd).has_error());
    }
  }

  TEST_CASE("a large fleet is asked for less often, so that it costs the aggregator no more") {
    CHECK(pause_of(subject::fleet, 3) == 1s);
    CHECK(pause_of(subject::fleet, 5000) == 5s);
    CHECK(pause_of(subject::fleet, 1'000'000) == 20s);
    CHECK(pause_of(subject::node, 5000) == 1s);
  }
}

}  // namespace fleet_test
