#include "tests/common/wire/dialogue.hpp"
#include "tests/common/wire/noisy_node.hpp"

#include <random>
#include <string>
#include <vector>

using namespace binnacle;
using namespace binnacle::wire;
using namespace std::chrono_literals;
using agent_event = agent_session::event;
using aggregator_event = aggregator_session::event;
using test::dialogue;
using test::start;

TEST_SUITE("common/wire/session") {
  TEST_CASE("an agent is welcomed, announces its series, streams batches and says goodbye") {
    dialogue d;
    d.welcome_agent();
    CHECK(d.aggregator.greeting().node == "node-1");
    CHECK(d.agent.greeting().replica_id == "replica-0");

    test::noisy_node node(1);
    d.announce(node.announces());
    CHECK(d.announced.series == node.announces().series);

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

  TEST_CASE("an agent that is sent away for years comes back in ten minutes") {
    dialogue d;
    REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
    REQUIRE(d.aggregator_next() == aggregator_event::hello);
    d.aggregator.refuse(reason::overloaded, "not now", std::chrono::hours(1000));
    CHECK(d.agent_next() == agent_event::ended);
    CHECK(d.agent.retry_after() == std::chrono::minutes(10));
  }

  TEST_CASE("the machines say when they need to be called again") {
    dialogue d;
    CHECK(d.aggregator.next_deadline() == start + 10s);
    CHECK(d.agent.next_deadline() == instant::max());
    REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
    CHECK(d.agent.next_deadline() == start + 20s);
    d.now += 3s;
    REQUIRE(d.aggregator_next() == aggregator_event::hello);
    CHECK(d.aggregator.next_deadline() == start + 13s);
    d.aggregator.accept({}, d.now);
    CHECK(d.aggregator.next_deadline() == start + 33s);
    REQUIRE(d.agent_next() == agent_event::welcomed);
    CHECK(d.agent.next_deadline() == instant::max());
  }

  TEST_CASE("no hello in ten seconds ends the session, also when bytes drip") {
    dialogue d;
    REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
    bytes sent;
    d.agent.take_output(sent);
    for (int i = 0; i < 9; ++i) {
      d.now += 1s;
      d.aggregator.feed({sent.data() + i, 1});
      CHECK(d.aggregator.next(d.now) == aggregator_event::nothing);
    }
    CHECK(d.aggregator.next(start + 10s) == aggregator_event::ended);
    CHECK(d.aggregator.ended()->why == reason::hello_timeout);
    d.to_agent();
    CHECK(d.agent.next(d.now) == agent_event::ended);
    CHECK(d.agent.ended()->why == reason::hello_timeout);
  }

  TEST_CASE("a hello that nobody answers ends both sides") {
    dialogue d;
    REQUIRE(d.agent.start(test::plain_hello(), d.now).has_value());
    REQUIRE(d.aggregator_next() == aggregator_event::hello);
    CHECK(d.aggregator.next(start + 10s) == aggregator_event::ended);
    CHECK(d.aggregator.ended()->why == reason::authorise_timeout);
    CHECK(d.agent.next(start + 19s) == agent_event::nothing);
    CHECK(d.agent.next(start + 20s) == agent_event::ended);
    CHECK(d.agent.ended()->why == reason::hello_timeout);
  }

  TEST_CASE("a silent agent is ended after 30 s, one with long periods after three of them") {
    dialogue d;
    d.welcome_agent();
    catalog c = test::plain_catalog(1);
    duration silence = 30s;
    SUBCASE("one second") {}
    SUBCASE("a minute") { c.groups[0].period_ms = 60'000, silence = 3min; }
    SUBCASE("49 days") { c.groups[0].period_ms = 0xffff'ffff, silence = 3h; }
    d.announce(c);
    CHECK(d.aggregator.next_deadline() == d.now + silence);
    CHECK(d.aggregator.next(d.now + silence - 1ns) == aggregator_event::nothing);
    CHECK(d.aggregator.next(d.now + silence) == aggregator_event::ended);
    CHECK(d.aggregator.ended()->why == reason::idle);
  }

  TEST_CASE("an agent with nothing to say keeps its session by empty batches") {
    dialogue d;
    d.welcome_agent();
    d.announce(test::plain_catalog(2));
    batch b;
    b.full = true;
    b.values = {{0, 1}, {1, 2}};
    REQUIRE(d.agent.send(b, d.now).has_value());
    REQUIRE(d.aggregator_next() == aggregator_event::batch);
    for (int i = 0; i < 20; ++i) {
      CHECK(d.agent.next_deadline() == d.now + 10s);
      d.now += 10s;
      CHECK(d.agent.next(d.now) == agent_event::nothing);
      REQUIRE(d.aggregator_next() == aggregator_event::batch);
      CHECK(d.aggregator.last_batch().values.empty());
      CHECK(d.aggregator.last_batch().sent_at_ns == to_ns(d.now));
      CHECK(d.aggregator_next() == aggregator_event::nothing);
    }
  }

  TEST_CASE("a credential is renewed in the running session") {
    dialogue d;
    d.welcome_agent(100);
    d.announce(test::plain_catalog(1));
    CHECK(d.agent.next_deadline() == start + 80s);
    d.now = start + 80s;
    CHECK(d.agent.next(d.now) == agent_event::credential_due);
    REQUIRE(d.agent.renew("second token", d.now).has_value());
    batch b;
    b.full = true;
    b.values = {{0, 1}};
    REQUIRE(d.agent.send(b, d.now).has_value());  // batches go on while the credential is checked
    REQUIRE(d.aggregator_next() == aggregator_event::hello);
    CHECK(d.aggregator.greeting().credential == "second token");
    REQUIRE(d.aggregator.next(d.now) == aggregator_event::batch);

    SUBCASE("accepted") {
      welcome w;
      w.reauthenticate_after_s = 100;
      d.aggregator.accept(w, d.now);
      CHECK(d.aggregator.greeting().credential.empty());
      CHECK(d.agent_next() == agent_event::renewed);
      d.now = start + 100s;
      CHECK(d.aggregator.next(d.now) == aggregator_event::nothing);
    }
    SUBCASE("refused") {
      d.aggregator.refuse(reason::not_authorised, "TokenReview says no", 5s);
      CHECK(d.agent_next() == agent_event::ended);
      CHECK(d.agent.ended()->why == reason::not_authorised);
      CHECK(d.agent.retry_after() == 5s);
    }
    SUBCASE("asked again before the answer") {
      bytes again;
      REQUIRE(append(again, test::plain_hello()).has_value());
      d.aggregator.feed(again);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::unexpected_message);
    }
    SUBCASE("another node") {
      d.aggregator.accept({}, d.now);
      REQUIRE(d.agent_next() == agent_event::renewed);
      agent_session other{agent_session::settings{}};
      REQUIRE(other.start(test::plain_hello("node-2"), d.now).has_value());
      bytes sent;
      other.take_output(sent);
      d.aggregator.feed(sent);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::wrong_node);
    }
  }

  TEST_CASE("a credential that is not renewed ends the session on time") {
    dialogue d;
    d.welcome_agent(100);
    d.announce(test::plain_catalog(1));
    batch b;
    b.full = true;
    b.values = {{0, 1}};
    for (d.now += 20s; d.now < start + 100s; d.now += 20s) {
      REQUIRE(d.agent.send(b, d.now).has_value());
      REQUIRE(d.aggregator_next() == aggregator_event::batch);
      CHECK(d.aggregator.next(d.now) == aggregator_event::nothing);
    }
    CHECK(d.aggregator.next_deadline() == start + 100s);
    CHECK(d.aggregator.next(start + 100s) == aggregator_event::ended);
    CHECK(d.aggregator.ended()->why == reason::reauthentication);
  }

  TEST_CASE("interest reaches the agent; statuses reach the aggregator") {
    dialogue d;
    CHECK(d.aggregator.want({}).error().why == reason::unexpected_message);
    d.welcome_agent();
    REQUIRE(d.aggregator.want({{{"rapl_power_watts", 200}}}).has_value());
    REQUIRE(d.agent_next() == agent_event::interest);
    CHECK(d.agent.last_interest().wishes.at(0).period_ms == 200);
    const std::vector<source_status> s = {{"rapl", false, "no powercap"}};
    REQUIRE(d.agent.send(s, d.now).has_value());
    REQUIRE(d.aggregator_next() == aggregator_event::statuses);
    CHECK(d.aggregator.take_statuses() == s);
  }

  TEST_CASE("the aggregator asks for the agent's clock after the welcome, then ever more seldom") {
    dialogue d;
    d.welcome_agent();
    d.now += 200ms;
    CHECK(d.agent.next(d.now) == agent_event::nothing);  // the agent answers with its clock
    d.now += 3s;
    d.announce(test::plain_catalog(1));
    // The agent answered before it sent its catalog, and the answer says when the question arrived.
    REQUIRE(d.told.size() == 1);
    CHECK(d.told[0].second.aggregator_us == to_ns(start) / 1'000);
    CHECK(d.told[0].second.agent_us == to_ns(start + 200ms) / 1'000);
    const instant begun = d.now;
    batch b;
    b.full = true;
    b.values = {{0, 1}};
    for (d.now += 1s; d.now < begun + 300s; d.now += 1s) {
      REQUIRE(d.agent.send(b, d.now).has_value());
      REQUIRE(d.aggregator_next() == aggregator_event::batch);
      REQUIRE(d.aggregator_next() == aggregator_event::nothing);
      REQUIRE(d.agent_next() == agent_event::nothing);
    }
    std::vector<std::int64_t> at;
    for (const auto& [when, clock] : d.told) at.push_back((when - begun) / 1s);
    // The aggregator asks with the first batch after each pause; the agent answers with the next batch.
    CHECK(at == std::vector<std::int64_t>{0, 2, 5, 10, 19, 36, 69, 134, 199, 264});

    // If an agent's clock contradicts its earlier times, the aggregator asks for the time with the next
    // batch, not a minute later.
    d.aggregator.doubt_clock(d.now);
    const std::size_t told = d.told.size();
    for (const instant until = d.now + 4s; d.now < until; d.now += 1s) {
      REQUIRE(d.agent.send(b, d.now).has_value());
      REQUIRE(d.aggregator_next() == aggregator_event::batch);
      REQUIRE(d.aggregator_next() == aggregator_event::nothing);
      REQUIRE(d.agent_next() == agent_event::nothing);
    }
    CHECK(d.told.size() > told);
  }

  TEST_CASE("a new catalog in a running session wants a full batch") {
    dialogue d;
    d.welcome_agent();
    d.announce(test::plain_catalog(1));
    batch b;
    b.full = true;
    b.values = {{0, 1}};
    REQUIRE(d.agent.send(b, d.now).has_value());
    REQUIRE(d.aggregator_next() == aggregator_event::batch);
    d.announce(test::plain_catalog(2, 1, 2));
    CHECK(d.agent.needs_full());
    batch delta;
    delta.values = {{0, 2}};
    CHECK(d.agent.send(delta, d.now).error().why == reason::not_full);
    b.values = {{0, 5}, {1, 6}};
    REQUIRE(d.agent.send(b, d.now).has_value());
    REQUIRE(d.aggregator_next() == aggregator_event::batch);
    CHECK(d.aggregator.last_batch().catalog_version == 2);
  }

  TEST_CASE("a catalog that is too large is refused at home and the session goes on") {
    dialogue d;
    d.welcome_agent();
    catalog c = test::plain_catalog(1);
    c.series.resize(1'000'000, c.series[0]);
    CHECK(d.agent.send(c, d.now).error().why == reason::catalogue_too_large);
    CHECK(d.agent.output_size() == 0);
    d.announce(test::plain_catalog(1));
  }

  TEST_CASE("once welcomed, an agent may send frames of up to 1 MiB") {
    dialogue d;
    d.welcome_agent();
    catalog c = test::plain_catalog(5'000);
    std::mt19937_64 random(1);  // labels that do not compress
    for (series_info& s : c.series)
      for (int i = 0; i < 4; ++i) s.labels[0].second += std::to_string(random());
    REQUIRE(d.agent.send(c, d.now).has_value());
    REQUIRE(d.agent.output_size() > max_first_frame);
    CHECK(d.aggregator_next() == aggregator_event::catalog);
  }

  TEST_CASE("an agent whose session is taken over learns it") {
    dialogue d;
    d.welcome_agent();
    d.aggregator.close(reason::superseded, "a newer session of node-1");
    d.aggregator.close(reason::shutting_down, "");  // the first reason stays
    CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
    CHECK(d.aggregator.ended()->why == reason::superseded);
    CHECK(d.agent_next() == agent_event::ended);
    CHECK(d.agent.ended()->why == reason::superseded);
    batch b;
    CHECK(d.agent.send(b, d.now).error().why == reason::unexpected_message);
    CHECK(d.agent.renew("x", d.now).has_error());
  }

  TEST_CASE("what follows a catalog waits until it has been opened elsewhere, and time goes on") {
    dialogue d;
    d.welcome_agent();
    test::noisy_node node(1);
    REQUIRE(d.agent.send(node.announces(), d.now).has_value());
    batch first = node.tick(to_ns(d.now), true);
    REQUIRE(d.agent.send(first, d.now).has_value());
    d.to_aggregator();
    REQUIRE(d.aggregator.next(d.now) == aggregator_event::catalog);
    const auto opened = d.aggregator.take_catalog().open();
    CHECK(d.aggregator.next(d.now) == aggregator_event::nothing);
    SUBCASE("it is adopted, and the batch is read") {
      d.aggregator.adopt(opened.outline(), opened.left_out, d.now);
      CHECK(d.aggregator.next(d.now) == aggregator_event::batch);
      CHECK(d.aggregator.last_batch().values.size() == node.announces().series.size());
    }
    SUBCASE("it cannot be read, which ends the session with its reason") {
      d.aggregator.adopt(fault{reason::catalogue_too_large, "too large"}, {}, d.now);
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::catalogue_too_large);
    }
    SUBCASE("it takes too long") {
      d.now = d.aggregator.next_deadline();
      CHECK(d.aggregator.next(d.now) == aggregator_event::ended);
      CHECK(d.aggregator.ended()->why == reason::idle);
      d.aggregator.adopt(opened.outline(), opened.left_out, d.now);
      CHECK(d.aggregator.now_in() == aggregator_session::state::ended);
    }
  }

  TEST_CASE("a whole conversation dripped byte by byte is the same conversation") {
    dialogue d;
    d.welcome_agent();
    test::noisy_node node(2);
    bytes all;
    {
      bytes part;
      REQUIRE(d.agent.send(node.announces(), d.now).has_value());
      for (int i = 0; i < 3; ++i) {
        batch b = node.tick(0, i == 0);
        for (group_read& r : b.reads) r.read_at_ns = to_ns(d.now) - 5'000;
        REQUIRE(d.agent.send(b, d.now).has_value());
      }
      d.agent.close(reason::shutting_down, "");
      d.agent.take_output(all);
    }
    std::vector<aggregator_event> seen;
    for (const std::byte b : all) {
      d.aggregator.feed({&b, 1});
      for (auto e = d.aggregator.next(d.now); e != aggregator_event::nothing; e = d.aggregator.next(d.now)) {
        seen.push_back(e);
        if (e == aggregator_event::ended) break;
        if (e == aggregator_event::catalog) (void)d.aggregator.open_catalog(d.now);
      }
    }
    using e = aggregator_event;
    CHECK(seen == std::vector<e>{e::catalog, e::batch, e::batch, e::batch, e::ended});
    CHECK(d.aggregator.counters().frames_in == 6);
    CHECK(d.aggregator.counters().bytes_in > all.size());
  }
}
