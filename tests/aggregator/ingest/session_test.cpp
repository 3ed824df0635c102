#include "common/system/read_file.hpp"
#include "common/tls/certificate.hpp"
#include "tests/aggregator/ingest/house.hpp"

// Agents that follow the protocol, over real TLS on loopback.
namespace binnacle::ingest::test {

using event = wire::agent_session::event;
using store::two_packages;

TEST_SUITE("aggregator/ingest/session") {
  TEST_CASE("an agent's values arrive in store and view") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      CHECK(agent.session.greeting().replica_id == "replica-1");
      auto arrived = [&] { return h.door->counters().batches == 1; };
      co_await h.until(arrived);

      const store::node_view* n = h.view.find("node-1");
      REQUIRE(n != nullptr);
      CHECK(n->connected);
      CHECK(n->agent_version == "0.1-test");
      CHECK(n->peer_address.find("127.0.0.1:") == 0);
      REQUIRE(n->cells != nullptr);
      CHECK(n->cells->load(0).value == decimal{100, -1});
      CHECK(n->cells->load(0).present(boot_clock::now()));
      CHECK(h.door->counters().open == 1);
      CHECK(h.door->counters().greeting == 0);
      CHECK(h.door->counters().samples == 12);

      const auto column = h.core.watch({"rapl_power_watts"}, boot_clock::now());
      co_await agent.report(0, 700);
      auto derived = [&] { return column.values->load(n->id).value == decimal{700 + 101 + 102, -1}; };
      co_await h.until(derived);

      agent.peer->close();
      auto gone = [&] { return !n->connected; };
      co_await h.until(gone);
      CHECK(h.ended(wire::reason::closed_by_peer) == 1);
      CHECK(n->cells->load(0).value == decimal{700, -1});
      CHECK(n->cells->load(0).link_down);
      CHECK(h.door->counters().open == 0);
      co_await h.stop();
    });
  }

  TEST_CASE("an agent that announces catalog after catalog is read more slowly, and loses nothing") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      const auto told = h.updates;
      for (int i = 0; i < 6; ++i) {
        agent.catalog.version += 1;
        agent.catalog.series.pop_back();
        REQUIRE(agent.session.send(agent.catalog, boot_clock::now()).has_value());
      }
      co_await agent.send();
      auto all_seen = [&] { return h.updates == told + 6; };
      co_await h.until(all_seen);
      CHECK(h.door->counters().slowed_catalogs >= 1);
      CHECK(h.view.find("node-1")->cells->series().all.size() == agent.catalog.series.size());
      CHECK(h.door->counters().open == 1);
      co_await h.stop();
    });
  }

  TEST_CASE("an agent that connects anew for each catalog is read more slowly, too") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      // The sixth catalog is slowed if each comes within a second. On a busy machine it may take a few
      // more.
      for (int tries = 0; tries < 60 && h.door->counters().slowed_catalogs == 0; ++tries) {
        visitor agent(h, "node-1");
        co_await agent.settle("node-1");
        agent.peer->close();
        auto gone = [&] { return h.door->counters().open == 0; };
        co_await h.until(gone);
      }
      CHECK(h.door->counters().slowed_catalogs == 1);
      // The next ones wait in new sessions, too: a second for each.
      const instant began = boot_clock::now();
      for (int i = 0; i < 3; ++i) {
        visitor agent(h, "node-1");
        co_await agent.settle("node-1");
        agent.peer->close();
        auto gone = [&] { return h.door->counters().open == 0; };
        co_await h.until(gone);
      }
      CHECK(boot_clock::now() - began > 1s);
      co_await h.stop();
    });
  }

  TEST_CASE("the health of sources reaches the view") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor agent(h, "node-1");
      co_await agent.hello("node-1");
      const std::vector<wire::source_status> status = {{"rapl", false, "energy_uj is readable by root only"}};
      REQUIRE(agent.session.send(status, boot_clock::now()).has_value());
      co_await agent.send();
      auto told = [&] { return !h.view.find("node-1")->sources.empty(); };
      co_await h.until(told);
      CHECK(h.view.find("node-1")->sources[0].message == "energy_uj is readable by root only");
      agent.peer->close();
      co_await h.stop();
    });
  }

  TEST_CASE("an interest reaches agents that come and agents that are there, once") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      wire::interest first;
      first.wishes = {{"rapl_power_watts", 200}};
      h.door->set_interest(first);
      visitor agent(h, "node-1");
      co_await agent.hello("node-1");
      CHECK(agent.last == event::welcomed);
      co_await agent.next();
      CHECK(agent.last == event::interest);
      CHECK(agent.session.last_interest().wishes.at(0).family == "rapl_power_watts");

      wire::interest second;
      second.wishes = {{"os_load1", 1000}};
      h.door->set_interest(second);
      h.door->set_interest(second);
      co_await agent.next();
      CHECK(agent.last == event::interest);
      CHECK(agent.session.last_interest().wishes.at(0).family == "os_load1");
      h.door->set_interest({});
      co_await agent.next();
      CHECK(agent.last == event::interest);
      CHECK(agent.session.last_interest().wishes.empty());
      agent.peer->close();
      co_await h.stop();
    });
  }

  TEST_CASE("a denied serial number ends the agent's session and opens no other; other agents stay") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor stolen(h, "n1"), good(h, "n2");
      co_await stolen.settle("n1");
      co_await good.settle("n2");
      const auto shown = tls::read_certificates(read_file(h.dir / "n1.crt", 1u << 20).value(), "n1");
      support::write_file(h.dir / "denied", shown->front().serial + "\n");
      CHECK(h.certificates->reload_if_changed().value());
      co_await stolen.next();
      CHECK(stolen.why() == wire::reason::not_authorised);
      CHECK(stolen.told().find("serial number") != std::string::npos);
      const auto gone = [&h] { return h.door->counters().open == 1; };
      co_await h.until(gone);

      visitor again(h, "n3");
      again.tls = stolen.tls;
      bool connected = co_await again.connect();
      if (connected) {  // TLS 1.3: the refusal comes after the client's part of the handshake
        char byte = 0;
        const auto got = co_await again.peer->read_some({&byte, 1}, within(30s));
        CHECK(got.has_error());
      }
      const auto counted = [&h] { return h.door->counters().denied.count == 2; };
      co_await h.until(counted);
      CHECK(h.door->counters().denied.from.starts_with("127.0.0.1:"));
      CHECK(h.door->counters().open == 1);
      co_await h.stop();
    });
  }

  TEST_CASE("the newest session of a node wins, and values of the older one count no more") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor older(h, "node-1"), newer(h, "node-1");
      co_await older.settle("node-1");
      co_await newer.settle("NODE-1");
      co_await older.next();
      CHECK(older.last == event::ended);
      CHECK(older.why() == wire::reason::superseded);
      older.peer->close();
      co_await newer.report(0, 900);
      auto arrived = [&] { return h.view.find("node-1")->cells->load(0).value == decimal{900, -1}; };
      co_await h.until(arrived);
      auto alone = [&] { return h.door->counters().open == 1; };
      co_await h.until(alone);
      CHECK(h.view.find("node-1")->connected);
      CHECK_FALSE(h.view.find("node-1")->cells->load(0).link_down);
      CHECK(h.door->counters().superseded == 1);
      CHECK(h.ended(wire::reason::superseded) == 1);
      CHECK(h.store.node_count() == 1);
      newer.peer->close();
      co_await h.stop();
    });
  }

  TEST_CASE("a node whose sessions replace one another all the time is reported") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      std::vector<std::unique_ptr<visitor>> twins;
      for (int i = 0; i < 4; ++i) {
        twins.push_back(std::make_unique<visitor>(h, "node-1"));
        co_await twins.back()->hello("node-1");
      }
      CHECK(h.door->counters().superseded == 3);
      CHECK(h.door->counters().frequent_swaps == 1);
      twins.clear();
      co_await h.stop();
    });
  }

  // This warning once came for every agent: a replica had been deleted, and the agents' name for the
  // aggregator had one address left.
  TEST_CASE("links of one agent that replace one another are no two agents with one identity") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      std::vector<std::unique_ptr<visitor>> links;
      for (int i = 0; i < 4; ++i) {
        links.push_back(std::make_unique<visitor>(h, "node-1"));
        links.back()->process = 7;
        co_await links.back()->hello("node-1");
      }
      CHECK(h.door->counters().superseded == 3);
      CHECK(h.door->counters().frequent_swaps == 0);
      // The warning is meant for a second agent on that machine.
      for (int i = 0; i < 4; ++i) {
        links.push_back(std::make_unique<visitor>(h, "node-1"));
        links.back()->process = i % 2 == 0 ? 8 : 7;
        co_await links.back()->hello("node-1");
      }
      CHECK(h.door->counters().frequent_swaps == 1);
      links.clear();
      co_await h.stop();
    });
  }

  TEST_CASE("issue_16_a10_of_two_machines_at_one_address_the_one_that_was_there_first_has_the_node") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      std::vector<std::unique_ptr<visitor>> twins;
      // A thief behind the same NAT as the node comes second, and takes over the node at every odd swap.
      for (int i = 0; i < 4; ++i) {
        twins.push_back(std::make_unique<visitor>(h, "node-1"));
        co_await twins.back()->hello("node-1", "", i % 2 == 0 ? "boot-1" : "boot-2");
        CHECK(twins.back()->last == event::welcomed);
      }
      CHECK(h.door->counters().superseded == 3);
      const std::vector<contest> all = h.door->contests(boot_clock::now());
      REQUIRE(all.size() == 1);
      CHECK(all[0].node == "node-1");
      CHECK(all[0].stays == h.view.find("node-1")->peer_address);
      CHECK(h.door->contests(boot_clock::now() + 6min).empty());

      // The swaps marked the node as contested while the thief had it. The real agent gets it back and keeps
      // it.
      visitor real(h, "node-1");
      co_await real.hello("node-1", "", "boot-1");
      CHECK(real.last == event::welcomed);
      for (int i = 0; i < 3; ++i) {
        visitor thief(h, "node-1");
        co_await thief.hello("node-1", "", i == 2 ? "boot-3" : "boot-2");
        CHECK(thief.last == event::ended);
        CHECK(thief.why() == wire::reason::contested);
        CHECK(thief.told().find("has the node node-1 and stays") != std::string::npos);
      }
      CHECK(h.ended(wire::reason::contested) == 3);

      // The next link from the agent's own machine is welcome. So is the other machine, once nobody is
      // connected.
      visitor again(h, "node-1");
      co_await again.hello("node-1", "", "boot-1");
      CHECK(again.last == event::welcomed);
      again.peer->close();
      twins.clear();
      auto nobody = [&] { return h.door->counters().open == 0; };
      co_await h.until(nobody);
      visitor next(h, "node-1");
      co_await next.hello("node-1", "", "boot-2");
      CHECK(next.last == event::welcomed);
      next.peer->close();
      co_await h.stop();
    });
  }

  TEST_CASE("issue_16_a10_a_thief_elsewhere_gets_no_swap_whatever_he_says_and_goes_when_the_agent_is_back") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      auto real = std::make_unique<visitor>(h, "node-1");
      co_await real->hello("node-1", "", "boot-1");
      REQUIRE(real->last == event::welcomed);
      // A thief who knows the node's boot id is refused, too.
      for (const char* boot : {"boot-2", "boot-1", "boot-2"}) {
        visitor thief(h, "node-1");
        thief.from = "127.0.0.2";
        co_await thief.hello("node-1", "", boot);
        CHECK(thief.last == event::ended);
        CHECK(thief.why() == wire::reason::contested);
      }
      CHECK(h.door->counters().superseded == 0);
      CHECK(h.door->contests(boot_clock::now()).size() == 1);

      // While the real machine restarts, the thief gets in.
      real->peer->close();
      auto nobody = [&] { return h.door->counters().open == 0; };
      co_await h.until(nobody);
      visitor thief(h, "node-1");
      thief.from = "127.0.0.2";
      co_await thief.hello("node-1", "", "boot-2");
      CHECK(thief.last == event::welcomed);
      real = std::make_unique<visitor>(h, "node-1");
      co_await real->hello("node-1", "", "boot-3");
      CHECK(real->last == event::welcomed);
      CHECK(h.view.find("node-1")->peer_address.starts_with("127.0.0.1:"));
      visitor again(h, "node-1");
      again.from = "127.0.0.2";
      co_await again.hello("node-1", "", "boot-2");
      CHECK(again.why() == wire::reason::contested);
      real->peer->close();
      thief.peer->close();
      co_await h.stop();
    });
  }

  TEST_CASE("issue_16_a10_a_thief_that_comes_first_after_a_restart_goes_when_the_agent_is_back") {
    support::run([](async::loop& loop) -> task<void> {
      std::vector<std::byte> file;
      {
        house before(loop);
        visitor real(before, "node-1");
        co_await real.hello("node-1", "", "boot-1");
        REQUIRE(real.last == event::welcomed);
        auto draft = before.core.begin_snapshot();
        REQUIRE(before.core.add_nodes(draft, 10));
        file = aggregator::encode(std::move(draft.all));
        real.peer->close();
        co_await before.stop();
      }
      house h(loop);
      h.core.recall(aggregator::decode(file).value(), 0s, boot_clock::now());
      visitor thief(h, "node-1"), real(h, "node-1"), again(h, "node-1");
      thief.from = again.from = "127.0.0.2";
      co_await thief.hello("node-1", "", "boot-1");
      REQUIRE(thief.last == event::welcomed);
      co_await real.hello("node-1", "", "boot-1");
      CHECK(real.last == event::welcomed);
      co_await again.hello("node-1", "", "boot-1");
      CHECK(again.why() == wire::reason::contested);
      real.peer->close();
      thief.peer->close();
      co_await h.stop();
    });
  }

  TEST_CASE("one agent may come from another address while its older link is heard") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor first(h, "node-1"), second(h, "node-1");
      first.process = second.process = 7;
      second.from = "127.0.0.2";
      co_await first.hello("node-1");
      co_await second.hello("node-1");
      CHECK(second.last == event::welcomed);
      CHECK(h.ended(wire::reason::superseded) == 1);
      second.peer->close();
      first.peer->close();
      co_await h.stop();
    });
  }

  TEST_CASE("stopping says goodbye to every agent and then calls back") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      bool stopped = false;
      h.door->stop(5s, [&] { stopped = true; });
      co_await agent.next();
      CHECK(agent.last == event::ended);
      CHECK(agent.why() == wire::reason::shutting_down);
      agent.peer->close();
      auto done = [&] { return stopped; };
      co_await h.until(done);
      CHECK(h.door->counters().open == 0);
      visitor late(h, "node-2");
      const bool connected = co_await late.connect();
      CHECK_FALSE(connected);
    });
  }

  TEST_CASE("an agent that does not take its leave is cut off after the grace") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      const auto before = std::chrono::steady_clock::now();
      co_await h.stop(100ms);
      CHECK(std::chrono::steady_clock::now() - before < 1500ms);
      CHECK(h.door->counters().open == 0);
    });
  }

  TEST_CASE("the listener may go while sessions stand") {
    support::run([](async::loop& loop) -> task<void> {
      auto h = std::make_unique<house>(loop);
      visitor agent(*h, "node-1");
      co_await agent.settle("node-1");
      h.reset();
      co_await async::sleep_for(20ms);
      agent.peer->close();
    });
  }

  TEST_CASE("a silent agent is told so and left") {
    support::run([](async::loop& loop) -> task<void> {
      ingest_options o;
      o.silence = 1s;
      house h(loop, o);
      visitor agent(h, "node-1");
      co_await agent.hello("node-1");
      const auto end = co_await agent.next();
      CHECK(end == event::ended);
      CHECK(agent.why() == wire::reason::idle);
      agent.peer->close();
      co_await h.stop();
    });
  }
}

}  // namespace binnacle::ingest::test
