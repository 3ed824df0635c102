#include "aggregator/model_servers/asker.hpp"

#include "tests/aggregator/model_servers/asker_world.hpp"

namespace model_asker_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace binnacle::model_servers::test;

TEST_SUITE("aggregator/model_servers/asker") {
  TEST_CASE("one request brings the whole curve, and none is made while it counts") {
    world w;
    const question q = about("h:1", "pc");
    CHECK(w.it.want(q, w.now) == nullptr);
    auto calls = w.next();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].first == 0);
    CHECK(calls[0].count == points);
    CHECK_MESSAGE(w.next().empty(), "one call at a time goes to a server");
    w.it.answered(calls[0], heard(watts(calls[0]), calls[0]), w.now);
    const auto known = w.it.want(q, w.now);
    REQUIRE(known != nullptr);
    CHECK(known->from == predict::model_source::server);
    CHECK(known->server == "http://h:1/v2/models/pc/infer");
    CHECK(known->power.watts(5) == doctest::Approx(200));
    CHECK(w.next().empty());
    CHECK(w.it.trouble(q).empty());
    w.pass(asker::asked_again_after);
    CHECK_MESSAGE(w.it.want(q, w.now) == known, "it counts while it is asked again");
    CHECK(w.next().size() == 1);
  }

  TEST_CASE("nodes with the same model and inputs ask one question, other inputs and servers their own") {
    world w;
    for (int node = 0; node < 100; ++node) (void)w.it.want(about("h:1", "pc", 22 + node % 2), w.now);
    (void)w.it.want(about("other:1", "pc"), w.now);
    CHECK(w.it.size() == 3);
    const auto calls = w.next();
    REQUIRE(calls.size() == 2);
    CHECK(calls[0].about.model.server() != calls[1].about.model.server());
  }

  TEST_CASE("questions are bounded, and those that nobody asks any more are dropped") {
    world w;
    for (std::size_t i = 0; i < asker::most_questions + 10; ++i)
      (void)w.it.want(about("h:1", "pc", static_cast<double>(i)), w.now);
    CHECK(w.it.size() == asker::most_questions);
    CHECK(w.it.troubles().at(0).find("more than 2000 curves") != std::string::npos);
    w.pass(asker::dropped_after);
    CHECK(w.next().empty());
    CHECK(w.it.size() == 0);
  }

  TEST_CASE("an answer to a question that was dropped meanwhile harms nothing") {
    world w;
    (void)w.it.want(about("h:1", "pc"), w.now);
    const auto calls = w.next();
    w.pass(asker::dropped_after);
    CHECK(w.next().empty());
    w.it.answered(calls.at(0), heard(watts(calls[0]), calls[0]), w.now);
    CHECK(w.next().empty());
    CHECK(w.it.size() == 0);
    (void)w.it.want(about("h:1", "pc"), w.now);
    CHECK(w.next().size() == 1);
  }
}

}  // namespace model_asker_test
