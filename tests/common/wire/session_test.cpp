#include "noisy_node.hpp"
#include "support.hpp"

using namespace binnacle;
using namespace binnacle::wire;
using namespace std::chrono_literals;
using agent_event = agent_session::event;
using aggregator_event = aggregator_session::event;
using test::start;

namespace {

/// Both machines with a perfect wire between them.
struct dialogue {
  agent_session agent{agent_session::settings{}};
  aggregator_session aggregator{aggregator_session::settings{}, start};
  instant now = start;

  /// Carries what one side has put out to the other.
  void to_aggregator() {
    bytes sent;
    agent.take_output(sent);
    aggregator.feed(sent);
  }
  void to_agent() {
    bytes sent;
    aggregator.take_output(sent);
    agent.feed(sent);
  }
  aggregator_event aggregator_next() {
    to_aggregator();
    return aggregator.next(now);
  }
  agent_event agent_next() {
    to_agent();
    return agent.next(now);
  }
  void welcome_agent(std::uint32_t reauthenticate_after_s = 0) {
    REQUIRE(agent.start(test::plain_hello(), now).has_value());
    REQUIRE(aggregator_next() == aggregator_event::hello);
    welcome w;
    w.replica_id = "replica-0";
    w.reauthenticate_after_s = reauthenticate_after_s;
    aggregator.accept(w, now);
    REQUIRE(agent_next() == agent_event::welcomed);
  }
  void announce(const catalog& c) {
    REQUIRE(agent.send(c, now).has_value());
    REQUIRE(aggregator_next() == aggregator_event::catalog);
  }
};

}  // namespace

TEST_SUITE("common/wire/session") {
  TEST_CASE("an agent is welcomed, announces its series, streams batches and says goodbye") {
    dialogue d;
    d.welcome_agent();
    CHECK(d.aggregator.greeting().node == "node-1");
    CHECK(d.agent.greeting().replica_id == "replica-0");

    test::noisy_node node(1);
    d.announce(node.announces());
    CHECK(d.aggregator.take_catalog().series == node.announces().series);

    for (int i = 0; i < 5; ++i) {
      d.now += 1s;
      batch b = node.tick(to_ns(d.now), d.agent.needs_full());
      CHECK(b.full == (i == 0));
      REQUIRE(d.agent.send(b, d.now).has_value());
      REQUIRE(d.aggregator_next() == aggregator_event::batch);
      CHECK(d.aggregator.last_batch().values == b.values);
      CHECK(d.aggregator.last_batch().sequence == static_cast<std::uint64_t>(i + 1));
      CHECK(d.aggregator_next() == aggregator_event::nothing);
    }

    d.agent.close(reason::shutting_down, "SIGTERM");
    CHECK(d.aggregator_next() == aggregator_event::ended);
    CHECK(d.aggregator.ended()->message == "shutting_down: SIGTERM");
  }

  TEST_CASE("a refused agent learns the reason and when to come back") {
    dialogue d;
    REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
    REQUIRE(d.aggregator_next() == aggregator_event::hello);
    d.aggregator.refuse(reason::wrong_node, "the certificate speaks for node-2", 3s);
    CHECK(d.agent_next() == agent_event::ended);
    CHECK(d.agent.ended()->why == reason::wrong_node);
    CHECK(d.agent.retry_after() == 3s);
  }
}
