#include "aggregator/model_servers/trouble_log.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace trouble_log_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace std::chrono_literals;

namespace {

constexpr instant start{1h};
using texts = std::vector<std::string>;

std::vector<asker::ill> down(const std::string& sentence) { return {{"model server h:1", sentence}}; }

std::vector<asker::ill> many(int n, const std::string& why) {
  std::vector<asker::ill> out;
  for (int i = 0; i < n; ++i)
    out.push_back({fmt::format("model {}", i), fmt::format("model {}: {}", i, why)});
  return out;
}

}  // namespace

TEST_SUITE("aggregator/model_servers/trouble_log") {
  TEST_CASE("defect: after the first reason of a model server's trouble no other one was logged") {
    trouble_log log;
    CHECK(log.changes(down("h:1: refused"), start).warnings == texts{"h:1: refused"});
    CHECK(log.changes(down("h:1: refused"), start + 5s).warnings.empty());
    CHECK(log.changes(down("h:1: certificate"), start + 10s).warnings.empty());
    CHECK(log.changes(down("h:1: 503"), start + trouble_log::again_after - 1s).warnings.empty());
    CHECK(log.changes(down("h:1: 503"), start + trouble_log::again_after).warnings == texts{"h:1: 503"});
    CHECK(log.changes(down("h:1: refused"), start + trouble_log::again_after + 5s).warnings.empty());
    CHECK_MESSAGE(log.changes(down("h:1: 503"), start + 2h).warnings.empty(), "it is the last word already");
  }

  TEST_CASE("trouble that begins again is logged at once") {
    trouble_log log;
    CHECK(log.changes(down("refused"), start).relief.empty());
    CHECK(log.changes({}, start + 5s).relief == "no model server that is asked has trouble any more");
    CHECK(log.changes({}, start + 10s).relief.empty());
    CHECK(log.changes(down("refused"), start + 15s).warnings == texts{"refused"});
  }

  TEST_CASE("beyond ten at once the rest is counted, and not logged one by one later") {
    trouble_log log;
    const auto first = log.changes(many(13, "slow"), start).warnings;
    REQUIRE(first.size() == trouble_log::most_at_once + 1);
    CHECK(first.front() == "model 0: slow");
    CHECK(first.back() == "model servers and models: 3 more have new trouble");
    CHECK(log.changes(many(13, "slow"), start + 1h).warnings.empty());
    CHECK(log.changes(many(13, "400"), start + 1h).warnings.size() == trouble_log::most_at_once + 1);
    CHECK(log.changes(many(11, "400"), start + 2h).relief ==
          "model servers and models: 2 have no trouble any more or are no longer asked, 11 have trouble");
  }
}

}  // namespace trouble_log_test
