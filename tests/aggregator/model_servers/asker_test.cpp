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
    CHECK_MESSAGE(w.it.troubles().empty(), "there is room again");
  }

  TEST_CASE("defect: where temperatures wander, their old questions left no room for new ones") {
    world w;
    const question old = about("old:1", "pc"), next = about("next:1", "pc");
    (void)w.it.want(old, w.now);
    auto calls = w.it.next(w.now);
    REQUIRE(calls.at(0).for_metadata());
    w.it.answered(calls[0], reply{reply::verdict::refused, {}, "404"}, w.now);
    w.pass(1s);
    for (std::size_t i = 1; i < asker::most_questions; ++i)
      (void)w.it.want(about("h:1", "pc", static_cast<double>(i)), w.now);
    REQUIRE(w.it.size() == asker::most_questions);
    w.pass(asker::dropped_early_after - 2s);
    (void)w.it.want(next, w.now);
    CHECK(w.it.trouble(next) == "more curves are asked for than are kept");
    w.pass(1s);
    (void)w.it.want(next, w.now);
    CHECK_MESSAGE(w.it.trouble(next).empty(), "the old one has gone");
    CHECK(w.it.size() == asker::most_questions);
    CHECK(w.it.troubles().empty());
    // Those that are still wanted stay, and what belonged to the old one has gone with it.
    CHECK(w.it.next(w.now).size() == 2);
    w.pass(asker::dropped_early_after);
    (void)w.it.want(old, w.now);
    calls = w.it.next(w.now);
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].about == old);
    CHECK(calls[0].for_metadata());
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
