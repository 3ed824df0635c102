#include "aggregator/ingest/admission.hpp"
#include "aggregator/ingest/shared_state.hpp"
#include "common/async/network.hpp"
#include "common/async/task_group.hpp"
#include "tests/aggregator/ingest/house.hpp"

namespace binnacle::ingest::test {
namespace {

using event = wire::agent_session::event;

/// An API server that vouches for tokens of the form "ACCOUNT@NODE". For a token "ill…" it gives no answer.
struct issuer {
  std::vector<std::string> asked;
  duration lives = 1h;
  bool ill = false;
  std::vector<network> addresses;  // of the pod of every token
  std::string neighbour;           // the pod that has the peer's address
  network came_from;               // where the last token came from

  ingest_options options(async::loop& loop) {
    ingest_options o;
    o.agents_account = "agent";
    o.origin = token_origin::not_another_pod;
    o.review = [this, &loop](std::string token, const network& from,
                             std::function<void(result<token_holder>)> then) {
      asked.push_back(token);
      came_from = from;
      result<token_holder> said = error{errc::timeout, "the API server is away"};
      if (!ill) {
        const auto at = token.find('@');
        said = token_holder{
            at != token.npos, token.substr(0, at),       at == token.npos ? "" : token.substr(at + 1),
            "unknown token",  boot_clock::now() + lives, "uid of " + token};
        said->addresses = addresses;
        said->neighbour = neighbour;
      }
      async::post(loop, [said, then = std::move(then)] { then(said); });
    };
    return o;
  }
};

task<void> greet(visitor& agent, std::string node, std::string token) {
  agent.credential = std::move(token);
  co_await agent.hello(std::move(node));
}

/// Says hello again in the running session, and waits for the answer.
task<void> renew(visitor& agent, std::string token) {
  REQUIRE(agent.session.renew(std::move(token), boot_clock::now()).has_value());
  co_await agent.send();
  co_await agent.next();
}

TEST_SUITE("aggregator/ingest/token") {
  TEST_CASE("an agent without a certificate is welcomed by its token, and told when to come again") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      visitor agent(h);
      agent.credential = "agent@n1";
      co_await agent.settle("n1");
      CHECK(tokens.asked == std::vector<std::string>{"agent@n1"});
      CHECK(agent.session.greeting().reauthenticate_after_s >= 2690);
      CHECK(agent.session.greeting().reauthenticate_after_s <= 3600);
      CHECK(h.door->counters().open == 1);
      co_await h.stop();
    });
  }

  TEST_CASE("a token of another node, of another account, of nobody, and none at all are refused by name") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      struct row {
        const char* token;
        wire::reason why;
      };
      const std::vector<row> rows{{"agent@n2", wire::reason::wrong_node},
                                  {"other@n1", wire::reason::not_authorised},
                                  {"nonsense", wire::reason::not_authorised},
                                  {"", wire::reason::not_authorised}};
      for (const row& r : rows) {
        CAPTURE(r.token);
        visitor agent(h);
        co_await greet(agent, "n1", r.token);
        CHECK(agent.last == event::ended);
        CHECK(agent.why() == r.why);
        CHECK(agent.session.retry_after() == 1min);
      }
      CHECK(h.ended(wire::reason::not_authorised) == 3);
      CHECK(h.ended(wire::reason::wrong_node) == 1);
      CHECK(h.door->counters().welcomed == 0);
      co_await h.stop();
    });
  }

  TEST_CASE("a certificate that speaks for the node needs no token; one of another node may bring one") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      visitor own(h, "n1"), foreign(h, "n3"), without(h, "n4");
      co_await greet(own, "n1", "agent@n9");
      CHECK(own.last == event::welcomed);
      CHECK(own.session.greeting().reauthenticate_after_s > 0);  // the certificate is checked again, too
      CHECK(own.session.greeting().reauthenticate_after_s <= 86'400);
      CHECK(tokens.asked.empty());
      co_await greet(foreign, "n2", "agent@n2");
      CHECK(foreign.last == event::welcomed);
      co_await greet(without, "n1", "");
      CHECK(without.why() == wire::reason::wrong_node);
      co_await h.stop();
    });
  }

  TEST_CASE("a session ends when its pod is deleted, and the pod's token counts no longer; others stay") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      visitor agent(h), other(h);
      agent.credential = "agent@n1";
      co_await agent.settle("n1");
      other.credential = "agent@n2";
      co_await other.settle("n2");
      h.door->pods_deleted({"uid of agent@n1", "uid of nobody"}, boot_clock::now());
      co_await agent.next();
      CHECK(agent.last == event::ended);
      CHECK(agent.why() == wire::reason::not_authorised);
      auto alone = [&] { return h.door->counters().open == 1; };
      co_await h.until(alone);
      visitor again(h);
      co_await greet(again, "n1", "agent@n1");
      CHECK_MESSAGE(again.why() == wire::reason::not_authorised, "the API server's verdict may be older");
      CHECK(h.door->counters().open == 1);
      co_await h.stop();
    });
  }

  TEST_CASE("an agent's deleted pod is remembered, however many other pods were deleted before it") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      std::vector<std::string> deleted;
      for (int i = 0; i <= 10'000; ++i) deleted.push_back(fmt::format("another pod {}", i));
      deleted.emplace_back("uid of agent@n1");
      h.door->pods_deleted(deleted, boot_clock::now());
      visitor agent(h);
      co_await greet(agent, "n1", "agent@n1");
      CHECK(agent.last == event::ended);
      CHECK(agent.why() == wire::reason::not_authorised);
      co_await h.stop();
    });
  }

  TEST_CASE("what is remembered of deleted pods is bounded, and each is forgotten after a minute") {
    deleted_pods gone;
    instant now = from_ns(1'000'000'000'000);
    for (std::size_t i = 0; i < 3 * deleted_pods::most; ++i) gone.add(std::to_string(i), now);
    CHECK(gone.size() == deleted_pods::most);
    CHECK_FALSE(gone.contains("0"));
    CHECK(gone.contains(std::to_string(3 * deleted_pods::most - 1)));
    gone.add("late", now += 61s);
    CHECK(gone.size() == 1);
    CHECK(gone.contains("late"));
  }

  TEST_CASE("an agent that is refused because there are too many nodes leaves no pod behind") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop), 1);
      visitor first(h), second(h);
      first.credential = "agent@n1";
      co_await first.settle("n1");
      CHECK(h.door->counters().pods == 1);
      co_await greet(second, "n2", "agent@n2");
      CHECK(second.why() == wire::reason::overloaded);
      auto left = [&] { return h.door->counters().greeting == 0; };
      co_await h.until(left);
      CHECK(h.door->counters().pods == 1);
      first.peer->close();
      auto gone = [&] { return h.door->counters().open == 0; };
      co_await h.until(gone);
      CHECK(h.door->counters().pods == 0);
      co_await h.stop();
    });
  }

  TEST_CASE("a session ends when the Node object is deleted, and its agent may come again") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      visitor agent(h), again(h);
      agent.credential = "agent@n1";
      co_await agent.settle("n1");
      h.door->node_deleted("N1");
      h.door->node_deleted("never-seen");
      co_await agent.next();
      CHECK(agent.why() == wire::reason::reauthentication);
      co_await greet(again, "n1", "agent@n1");
      CHECK(again.last == event::welcomed);
      co_await h.stop();
    });
  }

  TEST_CASE("a stolen token opens no session from another pod's address, and ends none of its pod's") {
    support::run([](async::loop& loop) -> task<void> {
      const network loopback = async::address_of("127.0.0.1").value();
      issuer tokens;
      house h(loop, tokens.options(loop));
      visitor agent(h), thief(h), early(h);
      tokens.addresses = {loopback};
      tokens.neighbour = "default/web";  // the watch is late: the agent's pod has the address now
      agent.credential = "agent@n1";
      co_await agent.settle("n1");
      CHECK(tokens.came_from == loopback);

      tokens.addresses = {async::address_of("10.0.0.7").value()};
      co_await greet(thief, "n1", "agent@n1");
      CHECK(thief.why() == wire::reason::not_authorised);
      CHECK(thief.told().find("default/web") != std::string::npos);
      CHECK(thief.session.retry_after() == 1min);
      CHECK(h.door->counters().open == 1);

      // The address of the agent's pod is not known yet: the agent is not believed, but it need not wait a
      // minute; it may come again after 10 s.
      tokens.addresses = {};
      co_await greet(early, "n2", "agent@n2");
      CHECK(early.why() == wire::reason::unverified);
      CHECK(early.session.retry_after() == 10s);
      co_await renew(agent, "agent@n1");
      CHECK(agent.last == event::renewed);
      co_await h.stop();
    });
  }

  TEST_CASE("a running session is renewed by a new token, and ended by one that does not count") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      visitor agent(h);
      agent.credential = "agent@n1";
      co_await agent.settle("n1");
      co_await renew(agent, "agent@n1");
      CHECK(agent.last == event::renewed);
      co_await agent.report(0, 901);
      auto arrived = [&] { return h.view.find("n1")->cells->load(0).value == decimal{901, -1}; };
      co_await h.until(arrived);
      co_await renew(agent, "agent@n2");
      CHECK(agent.last == event::ended);
      CHECK(agent.why() == wire::reason::wrong_node);
      co_await h.stop();
    });
  }

  TEST_CASE(
      "trouble of the API server ends no session whose token is good, and turns new ones away for a while") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      visitor agent(h), late(h);
      agent.credential = "agent@n1";
      co_await agent.settle("n1");
      tokens.ill = true;
      co_await renew(agent, "agent@n1");
      CHECK(agent.last == event::renewed);
      CHECK(agent.session.greeting().reauthenticate_after_s == 30);
      co_await greet(late, "n2", "agent@n2");
      CHECK(late.why() == wire::reason::unverified);
      CHECK(late.session.retry_after() == 10s);
      CHECK(h.ended(wire::reason::unverified) == 1);
      co_await h.stop();
    });
  }

  TEST_CASE("when the last good token is over, trouble of the API server ends the session") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      tokens.lives = -1s;
      house h(loop, tokens.options(loop));
      visitor agent(h);
      agent.credential = "agent@n1";
      co_await agent.settle("n1");
      tokens.ill = true;
      co_await renew(agent, "agent@n1");
      CHECK(agent.why() == wire::reason::unverified);
      co_await h.stop();
    });
  }

  TEST_CASE(
      "an address whose tokens are not good gets no more questions asked, and one whose are good does") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      house h(loop, tokens.options(loop));
      constexpr std::size_t most = token_ration::most;
      for (std::size_t i = 0; i < most; ++i) {
        visitor good(h);
        co_await greet(good, "n1", "agent@n1");
        CHECK(good.last == event::welcomed);
      }
      CHECK(tokens.asked.size() == most);
      while (h.door->counters().rationed == 0 && tokens.asked.size() < 3 * most) {
        visitor stranger(h);
        co_await greet(stranger, "n2", "nobody's");
        CHECK(stranger.last == event::ended);
      }
      CHECK(h.door->counters().rationed == 1);
      CHECK(tokens.asked.size() >= 2 * most);
      co_await h.stop();
    });
  }

  TEST_CASE("a good token costs its address nothing, also if its agent leaves while it is looked at") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      std::vector<std::function<void(result<token_holder>)>> kept;
      std::size_t reviews = 0;
      ingest_options o = tokens.options(loop);
      o.review = [&](const std::string&, const network&, std::function<void(result<token_holder>)> then) {
        kept.push_back(std::move(then));
        ++reviews;
      };
      house h(loop, std::move(o));
      constexpr std::size_t most = token_ration::most;
      for (std::size_t i = 1; i <= 2 * most; ++i) {
        visitor agent(h);
        const bool connected = co_await agent.connect();
        REQUIRE(connected);
        wire::hello hi{.node = "n1", .boot_id = "b", .credential = "agent@n1"};
        REQUIRE(agent.session.start(std::move(hi), boot_clock::now()).has_value());
        co_await agent.send();
        auto asked = [&] { return reviews == i || h.door->counters().rationed > 0; };
        co_await h.until(asked);
        agent.peer->close();
        if (i != most) continue;
        auto gone = [&] { return h.door->counters().greeting == 0; };
        co_await h.until(gone);
        const token_holder good{true, "agent", "n1", "", boot_clock::now() + 1h};
        for (auto& then : std::exchange(kept, {})) then(good);
      }
      CHECK(reviews == 2 * most);
      CHECK(h.door->counters().rationed == 0);
      co_await h.stop();
    });
  }

  TEST_CASE("an agent that leaves while its token is looked at leaves nothing behind") {
    support::run([](async::loop& loop) -> task<void> {
      issuer tokens;
      std::function<void(result<token_holder>)> kept;
      ingest_options o = tokens.options(loop);
      o.review = [&kept](const std::string&, const network&, std::function<void(result<token_holder>)> then) {
        kept = std::move(then);
      };
      house h(loop, std::move(o));
      visitor agent(h);
      const bool connected = co_await agent.connect();
      REQUIRE(connected);
      wire::hello hi{.node = "n1", .boot_id = "b", .credential = "agent@n1"};
      REQUIRE(agent.session.start(std::move(hi), boot_clock::now()).has_value());
      co_await agent.send();
      auto asked = [&] { return kept != nullptr; };
      co_await h.until(asked);
      agent.peer->close();
      auto gone = [&] { return h.door->counters().greeting == 0; };
      co_await h.until(gone);
      kept(token_holder{true, "agent", "n1", "", boot_clock::now() + 1h});
      CHECK(h.door->counters().welcomed == 0);
      co_await h.stop();
    });
  }
}

}  // namespace
}  // namespace binnacle::ingest::test
