#pragma once

#include "tests/common/wire/support.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace binnacle::wire::test {

/// Both session machines, with a perfect wire between them.
struct dialogue {
  agent_session agent{agent_session::settings{}};
  aggregator_session aggregator{aggregator_session::settings{}, start};
  instant now = start;
  std::vector<std::pair<instant, clock_reading>> told;
  catalog announced;  // the last catalog of the agent

  /// Carries what one side wants to send to the other side.
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
  /// The next event other than a clock. Clocks that come before it are kept in `told`, and a catalog is
  /// opened at once.
  aggregator_session::event aggregator_next() {
    to_aggregator();
    for (;;) {
      const auto e = aggregator.next(now);
      if (e == aggregator_session::event::catalog) {
        announced = aggregator.open_catalog(now);
        return aggregator.ended() ? aggregator_session::event::ended : e;
      }
      if (e != aggregator_session::event::clock) return e;
      told.emplace_back(now, aggregator.last_clock());
    }
  }
  agent_session::event agent_next() {
    to_agent();
    return agent.next(now);
  }
  void welcome_agent(std::uint32_t reauthenticate_after_s = 0) {
    REQUIRE(agent.start(plain_hello(), now).has_value());
    REQUIRE(aggregator_next() == aggregator_session::event::hello);
    welcome w;
    w.replica_id = "replica-0";
    w.reauthenticate_after_s = reauthenticate_after_s;
    aggregator.accept(w, now);
    REQUIRE(agent_next() == agent_session::event::welcomed);
  }
  void announce(const catalog& c) {
    REQUIRE(agent.send(c, now).has_value());
    REQUIRE(aggregator_next() == aggregator_session::event::catalog);
  }
};

}  // namespace binnacle::wire::test
