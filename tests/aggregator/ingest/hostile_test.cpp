#include "aggregator/ingest/admission.hpp"
#include "common/async/task_group.hpp"
#include "tests/aggregator/ingest/house.hpp"

#include <algorithm>
#include <utility>

// What agents must not do: their session ends with a named reason, and nothing else is affected.
namespace binnacle::ingest::test {

using event = wire::agent_session::event;
using store::two_packages;

namespace {

/// A good agent that stays connected. Its session must go on, whatever the hostile agent does.
struct witness {
  explicit witness(house& h) : agent(h, "witness") {}
  task<void> arrive() { co_await agent.settle("witness"); }
  task<void> is_unharmed() {
    house& h = agent.where;
    co_await agent.report(0, 4321);
    auto arrived = [&] { return h.view.find("witness")->cells->load(0).value == decimal{4321, -1}; };
    co_await h.until(arrived);
    agent.peer->close();
    co_await h.stop();
  }
  visitor agent;
};

/// Sends `raw` and waits until its `frames` have been read. Returns how many were read in one turn of the
/// loop at most; a few turns may fall together.
task<std::uint64_t> most_in_a_turn(visitor& agent, wire::bytes raw, std::uint64_t frames) {
  house& h = agent.where;
  const std::uint64_t before = h.door->counters().frames;
  bool over = false;
  std::uint64_t most = 0;
  const auto watch = [](const ingest_counters& c, bool& end, std::uint64_t& seen) -> task<void> {
    std::uint64_t last = c.frames;
    while (!end) {
      co_await async::sleep_for(0ns);
      seen = std::max(seen, c.frames - std::exchange(last, c.frames));
    }
  };
  async::task_group others(h.loop, logger("test", log_level::off));
  others.spawn("who has a turn, too", watch(h.door->counters(), over, most));
  const bool sent = co_await agent.send_raw(raw);
  CHECK(sent);
  auto all_read = [&] { return h.door->counters().frames == before + frames; };
  co_await h.until(all_read);
  over = true;
  co_await others.wait();
  co_return most;
}

wire::bytes repeated(const wire::bytes& frame, std::uint64_t times) {
  wire::bytes out;
  for (std::uint64_t i = 0; i < times; ++i) out.insert(out.end(), frame.begin(), frame.end());
  return out;
}

/// A status report that says nothing, and whose 4 KiB unpack to 4 MiB of zeros.
wire::bytes large_when_unpacked() {
  constexpr std::size_t words = wire::max_message_bytes / 8, run = 256;
  wire::bytes out(wire::frame_header_size);
  // The segment table: one segment, of all words but this one. Bytes 4 to 6 are not zero.
  for (const int b : {0x70, 0xff, 0xff, 0x07}) out.push_back(static_cast<std::byte>(b));
  static_assert(words - 1 == 0x07'ffff);
  // A tag of zero stands for a word of zeros, and the byte after it for as many more.
  for (std::size_t left = words - 1; left > 0; left -= std::min(left, run)) {
    out.push_back(std::byte{0});
    out.push_back(static_cast<std::byte>(std::min(left, run) - 1));
  }
  wire::finish_frame(out, 0, wire::frame_kind::status, wire::flag_packed);
  return out;
}

/// The bytes of a good agent's next batch.
task<wire::bytes> next_batch(visitor& agent) {
  wire::batch b = agent.changed({{0, 5}, {3, 6}});
  REQUIRE(agent.session.send(b, boot_clock::now()).has_value());
  co_return agent.take();
}

}  // namespace

TEST_SUITE("aggregator/ingest/hostile") {
  TEST_CASE("a certificate of another node or cluster is refused and counted") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      visitor agent(h, "node-1"), stranger(h, "node-2");
      co_await agent.hello("node-9");
      CHECK(agent.last == event::ended);
      CHECK(agent.why() == wire::reason::wrong_node);
      CHECK(agent.session.retry_after() >= 30s);
      agent.peer->close();
      CHECK(h.ended(wire::reason::wrong_node) == 1);
      CHECK_FALSE(h.store.find("node-9").has_value());
      co_await stranger.hello("node-2", "another-cluster");
      CHECK(stranger.why() == wire::reason::wrong_cluster);
      CHECK(h.ended(wire::reason::wrong_cluster) == 1);
      stranger.peer->close();
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("without a certificate of our authority there is no session") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      support::authority foreign(h.dir, "foreign");
      support::wanted what;
      what.dns_names = {"node-1"};
      tls::files pem = foreign.issue("foreign-node", what);
      pem.authority = h.ca.certificate();
      tls::options client{tls::role::client, pem, tls::client_certificate::none, true, "binnacle/1"};
      visitor agent(h, "node-1");
      agent.tls = tls::context::load(client).value()->current();
      // In TLS 1.3 the client learns of the refusal only when it reads.
      const bool connected = co_await agent.connect();
      if (connected) {
        co_await agent.next();
        CHECK(agent.last == event::ended);
      }
      auto counted = [&] { return h.door->counters().handshake_failures == 1; };
      co_await h.until(counted);

      auto plain = co_await async::connect("127.0.0.1", h.door->port(), nullptr, "", within(5s));
      REQUIRE(plain.has_value());
      auto sent = co_await plain->write("GET / HTTP/1.1\r\n\r\n", within(5s));
      auto again = [&] { return h.door->counters().no_hello == 1; };
      co_await h.until(again);
      // A record of two bytes, with the beginning of a hello of 512.
      const std::string torn_hello("\x16\x03\x01\x00\x02\x01\x00\x16\x03", 9);
      auto torn = co_await async::connect("127.0.0.1", h.door->port(), nullptr, "", within(5s));
      REQUIRE(torn.has_value());
      sent = co_await torn->write(torn_hello, within(5s));
      auto once_more = [&] { return h.door->counters().no_hello == 2; };
      co_await h.until(once_more);
      CHECK(h.door->counters().greeting == 0);
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("a frame of bad bytes ends its session with the reason") {
    struct row {
      const char* what;
      std::size_t at;
      std::byte to;
      wire::reason why;
    };
    const row table[] = {
        {"a length beyond the limit", 2, std::byte{0xff}, wire::reason::oversized},
        {"unknown flags", 6, std::byte{0xf0}, wire::reason::bad_frame},
        {"a reserved byte", 7, std::byte{1}, wire::reason::bad_frame},
        {"another version", 5, std::byte{9}, wire::reason::wrong_version},
        {"a payload that is no message", 8, std::byte{0xff}, wire::reason::bad_message},
    };
    for (const row& r : table) {
      CAPTURE(r.what);
      support::run([&r](async::loop& loop) -> task<void> {
        house h(loop);
        witness w(h);
        co_await w.arrive();
        visitor agent(h, "node-1");
        co_await agent.settle("node-1");
        wire::bytes raw = co_await next_batch(agent);
        raw[r.at] = r.to;
        co_await agent.send_raw(raw);
        co_await agent.next();
        CHECK(agent.last == event::ended);
        CHECK(wire::to_string(agent.why()) == wire::to_string(r.why));
        CHECK(h.ended(r.why) == 1);
        auto left = [&] { return !h.view.find("node-1")->connected; };
        agent.peer->close();
        co_await h.until(left);
        CHECK(h.view.find("node-1")->cells->load(0).value == decimal{100, -1});
        co_await w.is_unharmed();
      });
    }
  }

  TEST_CASE("a flipped bit anywhere in a batch ends the session or is a value, and never more") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop, {.handshakes = {10'000, 10'000, 10'000}});
      witness w(h);
      co_await w.arrive();
      visitor first(h, "node-1");
      co_await first.settle("node-1");
      const wire::bytes sound = co_await next_batch(first);
      const std::size_t size = sound.size();
      first.peer->close();
      for (std::size_t bit = 0; bit < size * 8; bit += 7) {
        CAPTURE(bit);
        const std::string name = "node-" + std::to_string(bit + 2);  // one node's catalogs have a pace
        visitor agent(h, name);
        co_await agent.settle(name);
        wire::bytes raw = co_await next_batch(agent);
        if (bit / 8 < raw.size()) raw[bit / 8] ^= std::byte{1} << (bit % 8);
        co_await agent.send_raw(raw);
        agent.peer->end_writing();
        auto over = [&] { return h.door->counters().open == 1; };
        co_await h.until(over);
      }
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("a batch that comes byte by byte is a batch, a truncated one is nothing") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      const wire::bytes raw = co_await next_batch(agent);
      for (const std::byte b : raw) {
        const wire::bytes one{b};
        co_await agent.send_raw(one);
      }
      auto arrived = [&] { return h.view.find("node-1")->cells->load(0).value == decimal{5, -1}; };
      co_await h.until(arrived);
      const wire::bytes next = co_await next_batch(agent);
      const wire::bytes part(next.begin(), next.end() - 1);
      co_await agent.send_raw(part);
      agent.peer->end_writing();
      auto left = [&] { return !h.view.find("node-1")->connected; };
      co_await h.until(left);
      CHECK(h.ended(wire::reason::closed_by_peer) == 1);
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("a batch for series that the catalog does not have ends the session by name") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      // The batch of an honest encoder that has a larger catalog.
      wire::catalog larger = two_packages().series("more").series("and_more");
      wire::batch_encoder encoder;
      encoder.reset(larger);
      wire::batch b = agent.changed({});
      b.full = true;
      for (std::uint32_t i = 0; i < larger.series.size(); ++i) b.values.push_back({i, 1});
      b.sent_at_ns = to_ns(boot_clock::now());
      wire::bytes raw;
      REQUIRE(encoder.append(raw, b).has_value());
      co_await agent.send_raw(raw);
      co_await agent.next();
      CHECK(agent.last == event::ended);
      CHECK((agent.why() == wire::reason::unknown_series || agent.why() == wire::reason::sequence_gap));
      agent.peer->close();
      CHECK(h.view.find("node-1")->cells->load(0).value == decimal{100, -1});
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("a catalog beyond the node's bound is refused by name") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      visitor agent(h, "node-1");
      co_await agent.hello("node-1");
      store::catalog_builder many;
      many.group("textfile");
      for (int i = 0; i < 10'001; ++i) many.series("s" + std::to_string(i));
      REQUIRE(agent.session.send(many, boot_clock::now()).has_value());
      co_await agent.send();
      co_await agent.next();
      CHECK(agent.last == event::ended);
      CHECK(agent.why() == wire::reason::catalogue_too_large);
      CHECK(agent.told().find("10001 series") != std::string::npos);
      CHECK(h.store.counters().refused_catalogs == 1);
      CHECK(h.view.find("node-1")->cells == nullptr);
      agent.peer->close();
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("a clock that goes backwards ends the session, and its offset is forgotten") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      // A second encoder in the same state as the agent's, except for its clock.
      wire::batch_encoder encoder;
      encoder.reset(agent.catalog);
      wire::bytes raw, ignored;
      wire::batch full = agent.changed({});
      full.full = true;
      full.reads.clear();
      for (std::uint32_t i = 0; i < agent.catalog.series.size(); ++i) full.values.push_back({i, 100 + i});
      full.sent_at_ns = 1'000'000'000;
      REQUIRE(encoder.append(ignored, full).has_value());
      wire::batch late;
      late.sent_at_ns = 2'000'000'000;
      REQUIRE(encoder.append(raw, late).has_value());
      co_await agent.send_raw(raw);
      co_await agent.next();
      CHECK(agent.last == event::ended);
      CHECK(agent.why() == wire::reason::clock_backwards);
      CHECK(h.door->counters().clock_resets == 1);
      agent.peer->close();
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("an agent that ends its sessions for one reason again and again is named, with the reason") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      for (int i = 0; i < 3; ++i) {
        CHECK(h.door->repeated_ends(boot_clock::now()).empty());
        visitor agent(h, "node-1");
        co_await agent.settle("node-1");
        agent.session.close(wire::reason::bad_message, "a wish that it does not know");
        co_await agent.send();
        auto over = [&] { return h.ended(wire::reason::closed_by_peer) == std::uint64_t(i) + 1; };
        co_await h.until(over);
        agent.peer->close();
      }
      const auto ends = h.door->repeated_ends(boot_clock::now());
      REQUIRE(ends.size() == 1);
      CHECK(ends[0].why.text() == "bad_message: a wish that it does not know");
      CHECK(ends[0].nodes == std::vector<std::string>{"node-1"});
      CHECK(h.door->repeated_ends(boot_clock::now() + end_watch::remembered).empty());
      co_await h.stop();
    });
  }

  TEST_CASE("agents that refuse different messages are told apart, up to a bound") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      const int nodes = most_repeated_ends + 2;
      int over_already = 0;
      for (int node = 0; node < nodes; ++node) {
        for (int i = 0; i < end_watch::many; ++i) {
          const std::string name = fmt::format("node-{}", node);
          visitor agent(h, name);
          co_await agent.settle(name);
          agent.session.close(wire::reason::bad_message, fmt::format("wish \"m{}\"", node));
          co_await agent.send();
          ++over_already;
          auto over = [&] { return h.ended(wire::reason::closed_by_peer) == std::uint64_t(over_already); };
          co_await h.until(over);
          agent.peer->close();
        }
      }
      const auto ends = h.door->repeated_ends(boot_clock::now());
      CHECK(ends.size() == most_repeated_ends + 1);
      std::size_t named = 0;
      for (const repeated_end& e : ends) named += e.nodes.size();
      CHECK(named == std::size_t(nodes));
      const auto first = [&](const std::string& text) {
        return std::ranges::count_if(ends, [&](const repeated_end& e) { return e.why.message == text; });
      };
      CHECK(first("wish \"m0\"") == 1);
      CHECK(first("wish \"m1\"") == 1);
      co_await h.stop();
    });
  }

  TEST_CASE("hundreds of short batches that each touch ten thousand series leave the others their turns") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      (void)h.core.watch({"exporter_metric"}, boot_clock::now());
      visitor agent(h, "node-1");
      store::catalog_builder many;
      many.group("scrape");
      for (int i = 0; i < 10'000; ++i) many.series("exporter_metric", {{"n", std::to_string(i)}});
      agent.catalog = many;
      co_await agent.settle_with_catalog("node-1");

      constexpr std::uint64_t batches = 400;
      for (std::uint64_t i = 0; i < batches; ++i) {
        wire::batch no_news = agent.changed({});
        REQUIRE(agent.session.send(no_news, boot_clock::now()).has_value());
      }
      const std::uint64_t settled = h.door->counters().batches;
      const std::uint64_t most = co_await most_in_a_turn(agent, agent.take(), batches);
      CHECK(most <= 15);  // five a turn
      CHECK(h.door->counters().batches == settled + batches);
      agent.peer->close();
      co_await h.stop();
    });
  }

  TEST_CASE("messages that unpack to a thousand times their bytes leave the others their turns") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      std::uint64_t most = co_await most_in_a_turn(agent, repeated(large_when_unpacked(), 100), 100);
      CHECK(most <= 4);  // one a turn
      CHECK(h.door->counters().left_out == 0);

      wire::bytes report;
      const std::vector<wire::source_status> much(wire::max_statuses,
                                                  {std::string(1'024, 's'), false, std::string(1'024, 'm')});
      REQUIRE(wire::append(report, much).has_value());
      REQUIRE(report.size() < 16'000);
      most = co_await most_in_a_turn(agent, repeated(report, 200), 200);
      CHECK(most <= 12);  // three a turn
      agent.peer->close();
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("an agent that says hello again and again is read slowly, and costs no memory") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      wire::hello again;
      again.node = "node-1";
      again.boot_id = "boot-1";
      wire::bytes hello;
      REQUIRE(wire::append(hello, again).has_value());
      const std::uint64_t before = h.door->counters().frames;
      const bool sent = co_await agent.send_raw(repeated(hello, 1'000));
      CHECK(sent);
      auto begun = [&] { return h.door->counters().frames >= before + 5; };
      co_await h.until(begun);
      for (int i = 0; i < 20; ++i) co_await w.agent.report(0, i);
      agent.peer->close();
      co_await w.is_unharmed();
      // Five at once and one a second; the witness' batches are among the frames.
      CHECK(h.door->counters().frames < before + 200);
    });
  }

  TEST_CASE("messages that cannot be read leave the others their turns") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      witness w(h);
      co_await w.arrive();
      visitor agent(h, "node-1");
      co_await agent.settle("node-1");
      wire::bytes unreadable(wire::frame_header_size + 8, std::byte{0xff});
      wire::finish_frame(unreadable, 0, wire::frame_kind::status, wire::flag_packed);
      const std::uint64_t most = co_await most_in_a_turn(agent, repeated(unreadable, 2'000), 2'000);
      CHECK(most <= 4);  // one a turn
      CHECK(h.door->counters().left_out == 2'000);
      agent.peer->close();
      co_await w.is_unharmed();
    });
  }

  TEST_CASE("nothing may come before the hello") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop);
      visitor agent(h, "node-1");
      const bool connected = co_await agent.connect();
      REQUIRE(connected);
      wire::bytes raw;
      REQUIRE(wire::append(raw, wire::catalog(two_packages())).has_value());
      co_await agent.send_raw(raw);
      co_await agent.next();
      CHECK(agent.last == event::ended);
      CHECK(h.ended(wire::reason::not_hello) == 1);
      agent.peer->close();
      co_await h.stop();
    });
  }
}

TEST_SUITE("aggregator/ingest/storm") {
  TEST_CASE("handshakes begin at the bounded rate, and those that wait get in") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop, {.handshakes = {50, 50, 50}});
      async::task_group crowd(loop, logger("test", log_level::off));
      std::vector<std::unique_ptr<visitor>> agents;
      const auto before = std::chrono::steady_clock::now();
      for (int i = 0; i < 30; ++i) {
        const std::string name = "node-" + std::to_string(i);
        agents.push_back(std::make_unique<visitor>(h, name));
        crowd.spawn(name, agents.back()->hello(name));
      }
      co_await crowd.wait(within(10s));
      CHECK(std::chrono::steady_clock::now() - before > 450ms);  // 30 at 50 a second; the first 3 at once
      CHECK(h.door->counters().open == 30);
      CHECK(h.door->counters().turned_away == 0);
      agents.clear();
      co_await h.stop();
    });
  }

  TEST_CASE("beyond the queue connections are reset at once, and counted") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop, {.handshakes = {10, 10, 10}, .handshake_queue = 2});
      std::vector<async::stream> crowd;
      for (int i = 0; i < 40; ++i) {
        auto made = co_await async::connect("127.0.0.1", h.door->port(), nullptr, "", within(5s));
        if (made.has_value()) crowd.push_back(std::move(*made));
      }
      auto counted = [&] { return h.door->counters().accepted == 40; };
      co_await h.until(counted);
      CHECK(h.door->counters().turned_away >= 30);
      CHECK(h.door->counters().queued <= 2);
      crowd.clear();
      co_await h.stop();
    });
  }

  TEST_CASE("a peer that leaves the line before its handshake costs no handshake") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop, {.handshakes = {1, 1, 1}});
      const std::string like_a_hello("\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9);
      std::vector<async::stream> crowd;
      for (int i = 0; i < 20; ++i) {
        auto made = co_await async::connect("127.0.0.1", h.door->port(), nullptr, "", within(5s));
        REQUIRE(made.has_value());
        co_await made->write(like_a_hello, within(5s));
        crowd.push_back(std::move(*made));
      }
      auto all_there = [&] { return h.door->counters().queued + h.door->counters().begun == 20; };
      co_await h.until(all_there);
      crowd.clear();
      auto all_gone = [&] { return h.door->counters().queued == 0; };
      co_await h.until(all_gone);
      CHECK(h.door->counters().left_line > 0);
      CHECK(h.door->counters().begun < 20);
      co_await h.stop();
    });
  }

  TEST_CASE("a peer that sends nothing, or half a record, takes no agent's place and is dropped") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop, {.max_greeting = 1, .hello_deadline = 100ms});
      std::vector<async::stream> crowd;
      const std::string half_a_record("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9);
      for (const std::string& said : {std::string(), half_a_record.substr(0, 3), half_a_record}) {
        auto made = co_await async::connect("127.0.0.1", h.door->port(), nullptr, "", within(5s));
        REQUIRE(made.has_value());
        co_await made->write(said, within(5s));
        crowd.push_back(std::move(*made));
      }
      visitor agent(h, "node-1");
      co_await agent.hello("node-1");
      CHECK(agent.last == event::welcomed);
      auto let_go = [&] { return h.door->counters().silent == 3; };
      co_await h.until(let_go);
      CHECK(h.door->counters().queued == 0);
      co_await h.stop();
    });
  }

  TEST_CASE("sessions that never say hello keep no agent out: the one that waits longest gives way") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop, {.max_greeting = 2, .least_greeting = 10ms});
      visitor first(h, "node-1"), second(h, "node-2"), agent(h, "node-3");
      for (visitor* one : {&first, &second}) {
        const bool connected = co_await one->connect();
        CHECK(connected);
      }
      co_await agent.hello("node-3");
      CHECK(agent.last == event::welcomed);
      CHECK(h.door->counters().evicted == 1);
      char byte = 0;
      const auto ended = co_await first.peer->read_some({&byte, 1}, within(5s));
      CHECK((ended.has_error() ? ended.error().code != errc::timeout : *ended == 0));
      co_await h.stop();
    });
  }

  TEST_CASE("where few sessions may be, those that never say hello do not keep an agent out either") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop, {.max_sessions = 2, .least_greeting = 10ms});
      visitor first(h, "node-1"), second(h, "node-2"), agent(h, "node-3");
      for (visitor* one : {&first, &second}) {
        const bool connected = co_await one->connect();
        CHECK(connected);
      }
      co_await agent.hello("node-3");
      CHECK(agent.last == event::welcomed);
      CHECK(h.door->counters().evicted == 1);
      CHECK(h.door->counters().turned_away == 0);
      co_await h.stop();
    });
  }

  TEST_CASE("the number of sessions is bounded, and so is the number of nodes") {
    support::run([](async::loop& loop) -> task<void> {
      house h(loop, {.max_sessions = 1});
      visitor first(h, "node-1"), second(h, "node-2");
      co_await first.hello("node-1");
      CHECK(first.last == event::welcomed);
      const bool connected = co_await second.connect();
      CHECK_FALSE(connected);
      CHECK(h.door->counters().turned_away == 1);
      first.peer->close();
      auto gone = [&] { return h.door->counters().open == 0; };
      co_await h.until(gone);
      co_await h.stop();

      house small(loop, {}, 1);
      visitor third(small, "node-3"), fourth(small, "node-4");
      co_await third.hello("node-3");
      CHECK(third.last == event::welcomed);
      co_await fourth.hello("node-4");
      CHECK(fourth.why() == wire::reason::overloaded);
      fourth.peer->close();
      third.peer->close();
      co_await small.stop();
    });
  }
}

}  // namespace binnacle::ingest::test
