#include "agent/uplink/uplink.hpp"

#include "common/async/listener.hpp"
#include "common/async/stream.hpp"
#include "common/async/timers.hpp"
#include "common/wire/aggregator_session.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <dlfcn.h>
#include <mutex>
#include <netdb.h>
#include <string>
#include <string_view>
#include <vector>

namespace uplink_test {

using namespace binnacle;
using namespace std::chrono_literals;
using agent::board;
using async::task;
using async::within;

/// What "replicas.test" resolves to in this program, like the name of a headless Service. Look-ups run on
/// threads.
struct service_name {
  std::mutex mutex;
  std::vector<std::string> addresses;
  void resolves_to(std::vector<std::string> now) {
    const std::lock_guard lock(mutex);
    addresses = std::move(now);
  }
};
service_name& replicas_test() {
  static service_name& it = *new service_name;  // not destroyed: threads may still use it at the end
  return it;
}

// Replaces libc's function in this program.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** out) {
  using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (host == nullptr || std::string_view(host) != "replicas.test") return real(host, service, hints, out);
  const std::lock_guard lock(replicas_test().mutex);
  *out = nullptr;
  for (const auto& address : replicas_test().addresses) {
    if (const int failed = real(address.c_str(), service, hints, out); failed != 0) return failed;
    while (*out != nullptr) out = &(*out)->ai_next;
  }
  return 0;
}

namespace {

TEST_SUITE("agent/uplink") {
  TEST_CASE("addresses") {
    struct row {
      const char* text;
      const char* host;
      int port;
    };
    for (const row& r : {row{"a.b:1234", "a.b", 1234}, row{"a.b", "a.b", 9110},
                         row{"[fd00::5]:77", "fd00::5", 77}, row{"[::1]", "::1", 9110},
                         row{"fd00::5", "fd00::5", 9110}, row{"fe80::1%eth0", "fe80::1%eth0", 9110}}) {
      CAPTURE(r.text);
      const auto parsed = agent::parse_endpoint(r.text);
      REQUIRE(parsed.has_value());
      CHECK(parsed->host == r.host);
      CHECK(parsed->port == r.port);
    }
    for (const char* text :
         {"", ":9110", "a:", "a:b", "a:0", "a:70000", "[::1", "[::1]x", ":::", "1:2:3", "[:::]:9110"}) {
      CAPTURE(text);
      CHECK(agent::parse_endpoint(text).has_error());
    }
  }

  /// The aggregator's end of one connection: the real session machine and a real TLS socket.
  class peer {
   public:
    peer(async::stream s, std::string replica, std::uint16_t replicas)
        : stream_(std::move(s)),
          machine_(wire::aggregator_session::settings{}, boot_clock::now()),
          replica_(std::move(replica)),
          replicas_(replicas) {}

    static task<std::unique_ptr<peer>> accept(async::listener& at, std::shared_ptr<SSL_CTX> tls,
                                              std::string replica, std::uint16_t replicas = 1) {
      auto socket = co_await at.accept();
      async::stream stream(std::move(socket.value()), std::move(tls), tls::role::server);
      auto shaken = co_await stream.handshake(within(5s));
      REQUIRE_MESSAGE(shaken.has_value(), shaken.error().message);
      co_return std::make_unique<peer>(std::move(stream), std::move(replica), replicas);
    }

    /// The next event of the session machine. Answers hellos and skips clocks.
    task<wire::aggregator_session::event> next() {
      using event = wire::aggregator_session::event;
      for (;;) {
        const event e = machine_.next(boot_clock::now());
        if (e == event::hello) {
          hello = machine_.greeting();
          wire::welcome w;
          w.replica_id = replica_;
          w.replicas = replicas_;
          machine_.accept(std::move(w), boot_clock::now());
        }
        wire::bytes out;
        machine_.take_output(out);
        if (!out.empty()) {
          const std::string_view text(reinterpret_cast<const char*>(out.data()), out.size());
          co_await stream_.write(text, within(5s));
        }
        if (e == event::clock) continue;
        if (e == event::catalog) announced = machine_.open_catalog(boot_clock::now());
        if (e != event::nothing) co_return e;
        const auto room = machine_.prepare();
        const std::span<char> to(reinterpret_cast<char*>(room.data()), room.size());
        auto got = co_await stream_.read_some(to, within(5s));
        if (got.has_error() || got.value() == 0) co_return event::ended;
        machine_.received(got.value());
      }
    }
    task<void> until(wire::aggregator_session::event wanted) {
      for (;;) {
        const auto e = co_await next();
        if (e == wanted) co_return;
        REQUIRE(e != wire::aggregator_session::event::ended);
      }
    }

    wire::aggregator_session& machine() { return machine_; }
    void cut() { stream_.close(); }
    wire::hello hello;
    wire::catalog announced;

   private:
    async::stream stream_;
    wire::aggregator_session machine_;
    std::string replica_;
    std::uint16_t replicas_;
  };

  struct fixture {
    support::temp_folder dir;
    support::authority agents{dir, "agents"}, servers{dir, "servers"};
    std::shared_ptr<tls::context> server, client;
    board b;
    board::group_ref group = b.add_group("rapl", "", 1s, 10s);
    board::series_ref watts = b.add_series(group, "rapl_power_watts", {{"package", "0"}});

    fixture() {
      tls::options o;
      o.tls13_only = true;
      o.alpn = "binnacle/1";
      o.pem = servers.issue_server();
      o.pem.authority = agents.certificate();
      server = tls::context::load(o).value();
      support::wanted node;
      node.dns_names = {"n1"};
      o.side = tls::role::client;
      o.pem = agents.issue("n1", node);
      o.pem.authority = servers.certificate();
      client = tls::context::load(o).value();
    }
    agent::uplink_options options(std::uint16_t port) {
      agent::uplink_options out;
      out.aggregators = {{"localhost", port}};
      out.tls = client;
      out.hello.node = "n1";
      out.hello.boot_id = "b";
      return out;
    }
  };
  using event = wire::aggregator_session::event;

  TEST_CASE_FIXTURE(fixture,
                    "an agent says hello, announces, sends everything, then what changes, and says goodbye") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      b.set(watts, 50.0);
      agent::uplink up(loop, options(at.port()), b, logger("test", log_level::off));
      up.start();
      auto p = co_await peer::accept(at, server->current(), "r1");
      co_await p->until(event::hello);
      CHECK(p->hello.node == "n1");
      co_await p->until(event::catalog);
      CHECK(p->announced.series.size() == 1);
      co_await p->until(event::batch);
      CHECK(p->machine().last_batch().full);
      REQUIRE(p->machine().last_batch().values.size() == 1);
      CHECK(p->machine().last_batch().values[0].mantissa == 500);
      CHECK(up.report().links.at(0).aggregator == "r1");
      CHECK(up.report().links.at(0).connected);

      b.set(watts, 51.0);
      up.changed();
      co_await p->until(event::batch);
      CHECK_FALSE(p->machine().last_batch().full);
      CHECK(p->machine().last_batch().values.at(0).mantissa == 510);

      bool stopped = false;
      b.set(watts, 52.0);
      up.stop(2s, [&stopped] { stopped = true; });
      co_await p->until(event::batch);  // nothing is lost when it stops
      CHECK(p->machine().last_batch().values.at(0).mantissa == 520);
      CHECK((co_await p->next()) == event::ended);
      CHECK(p->machine().ended()->why == wire::reason::closed_by_peer);
      p.reset();
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  TEST_CASE_FIXTURE(
      fixture, "a board that still grows is announced once, when every source has completed its first read") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      auto o = options(at.port());
      bool complete = false;
      o.complete = [&complete] { return complete; };
      o.announce_patience = 1h;
      agent::uplink up(loop, o, b, logger("test", log_level::off));
      up.start();
      auto p = co_await peer::accept(at, server->current(), "r1");
      co_await p->until(event::hello);
      for (int turn = 0; turn < 2000 && !up.report().links.at(0).connected; ++turn) {
        up.changed();
        co_await async::sleep_for(5ms);
      }
      REQUIRE(up.report().links.at(0).connected);
      CHECK(up.report().links.at(0).batches == 0);
      b.add_series(group, "rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}});
      complete = true;
      up.changed();
      co_await p->until(event::catalog);
      CHECK(p->announced.series.size() == 2);
      co_await p->until(event::batch);
      CHECK(p->machine().last_batch().full);
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      p.reset();
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  TEST_CASE_FIXTURE(fixture, "it is announced as it is when a source takes too long") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      auto o = options(at.port());
      o.complete = [] { return false; };
      o.announce_patience = 1s;
      agent::uplink up(loop, o, b, logger("test", log_level::off));
      up.start();
      auto p = co_await peer::accept(at, server->current(), "r1");
      co_await p->until(event::batch);  // although nothing on the board has changed
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      p.reset();
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  TEST_CASE_FIXTURE(fixture, "a lost link is dialled again and begins with everything") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      agent::uplink up(loop, options(at.port()), b, logger("test", log_level::off));
      up.start();
      auto first = co_await peer::accept(at, server->current(), "r1");
      co_await first->until(event::batch);
      first->cut();
      b.set(watts, 77.0);
      auto second = co_await peer::accept(at, server->current(), "r1");
      co_await second->until(event::batch);
      CHECK(second->machine().last_batch().full);
      CHECK(second->machine().last_batch().values.at(0).mantissa == 770);
      CHECK(up.report().reconnects == 1);
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      while ((co_await second->next()) != event::ended) {
      }
      second.reset();
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  TEST_CASE_FIXTURE(fixture, "that nobody answers is a warning only some time after the start") {
    std::vector<std::string> said;
    const logger log("test", log_level::info, [&said](std::string_view line) { said.emplace_back(line); });
    support::run([&](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      auto o = options(at.port());
      at.close();
      o.aggregators = {{"127.0.0.1", at.port()}};  // one address, so one message
      o.meeting_patience = 1s;
      agent::uplink up(loop, o, b, log);
      up.start();
      while (said.size() < 2) co_await async::sleep_for(5ms);
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      while (!stopped) co_await async::sleep_for(5ms);
    });
    REQUIRE(said.size() == 2);
    CHECK_MESSAGE(said[0].find(" info test: ") != std::string::npos, said[0]);
    CHECK_MESSAGE(said[1].find(" warning test: ") != std::string::npos, said[1]);
    CHECK(said[0].substr(said[0].find("test: ")) == said[1].substr(said[1].find("test: ")));
  }

  // Under TLS 1.3 the refusal of a client's certificate comes after the client's handshake. Before, the
  // message was "the connection was lost".
  TEST_CASE_FIXTURE(fixture, "a certificate that the aggregator refuses is named with the remedy") {
    support::authority strangers{dir, "strangers"};
    support::wanted node;
    node.dns_names = {"n1"};
    support::authority* by = &agents;
    std::vector<std::string> says;
    SUBCASE("that has ended") {
      node.valid_from = -7200;
      node.valid_to = -3600;
      says = {"refused us: our certificate has expired", "ended on 20", "issue a new one"};
    }
    SUBCASE("that is not valid yet") {
      node.valid_from = 3600;
      node.valid_to = 7200;
      says = {"refused us: it does not accept our certificate", "begins only on 20", "clock"};
    }
    SUBCASE("of another CA") {
      by = &strangers;
      says = {"refused us: our certificate is not signed by a CA that it trusts: have it issued by that CA;"};
    }
    tls::options o;
    o.tls13_only = true;
    o.alpn = "binnacle/1";
    o.side = tls::role::client;
    o.pem = by->issue("n1", node);
    o.pem.authority = servers.certificate();
    client = tls::context::load(o).value();
    std::string said;
    const logger log("test", log_level::warning, [&said](std::string_view line) { said += line; });
    support::run([&](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      agent::uplink up(loop, options(at.port()), b, log);
      up.start();
      auto socket = co_await at.accept();
      async::stream stream(std::move(socket.value()), server->current(), tls::role::server);
      auto shaken = co_await stream.handshake(within(15s));
      CHECK(shaken.has_error());
      stream.close();
      while (said.empty()) co_await async::sleep_for(5ms);
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      while (!stopped) co_await async::sleep_for(5ms);
    });
    for (const auto& part : says) CHECK_MESSAGE(said.find(part) != said.npos, said);
  }

  TEST_CASE_FIXTURE(fixture, "behind one address it finds every replica, and keeps one link to each") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      auto o = options(at.port());
      o.aggregators = {{"127.0.0.1", at.port()}};
      agent::uplink up(loop, o, b, logger("test", log_level::off));
      up.start();
      auto first = co_await peer::accept(at, server->current(), "r1", 2);
      co_await first->until(event::batch);
      // The load balancer leads the second link to the same replica, where the newest session wins.
      auto again = co_await peer::accept(at, server->current(), "r1", 2);
      co_await again->until(event::batch);
      while ((co_await first->next()) != event::ended) {
      }
      first.reset();
      auto second = co_await peer::accept(at, server->current(), "r2", 2);
      co_await second->until(event::batch);
      const auto report = up.report();
      REQUIRE(report.links.size() == 2);
      CHECK(report.links[0].aggregator == "r2");
      CHECK(report.links[1].aggregator == "r1");
      CHECK(report.links[0].connected);
      CHECK(report.links[1].connected);
      CHECK(report.reconnects == 0);
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      while ((co_await again->next()) != event::ended) {
      }
      while ((co_await second->next()) != event::ended) {
      }
      again.reset();
      second.reset();
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  // Aggregators give the number of replicas with which they were started: 2, while a third one was added.
  TEST_CASE_FIXTURE(fixture, "a replica that is added behind a name is met, though nobody counts it") {
    support::run([this](async::loop& loop) -> task<void> {
      const logger quiet("test", log_level::off);
      auto first = async::listener::open(loop, "127.0.0.1", 0, quiet).value();
      auto second = async::listener::open(loop, "127.0.0.2", first.port(), quiet).value();
      auto third = async::listener::open(loop, "127.0.0.3", first.port(), quiet).value();
      replicas_test().resolves_to({"127.0.0.1", "127.0.0.2"});
      auto o = options(first.port());
      o.aggregators = {{"replicas.test", first.port()}};
      o.server_name = "localhost";
      std::string said;
      agent::uplink up(loop, o, b,
                       logger("test", log_level::warning, [&said](std::string_view line) { said += line; }));
      up.start();
      auto one = co_await peer::accept(first, server->current(), "r1", 2);
      co_await one->until(event::batch);
      auto two = co_await peer::accept(second, server->current(), "r2", 2);
      co_await two->until(event::batch);
      replicas_test().resolves_to({"127.0.0.3", "127.0.0.1", "127.0.0.2"});
      auto three = co_await peer::accept(third, server->current(), "r3", 2);
      co_await three->until(event::batch);
      const auto report = up.report();
      CHECK(report.links.size() == 3);
      CHECK(std::ranges::all_of(report.links, &agent::link_report::connected));
      CHECK(report.reconnects == 0);
      CHECK(said == "");
      // The pod goes, and so does its address. It is not missed, and no link is reported as lost.
      replicas_test().resolves_to({"127.0.0.1", "127.0.0.2"});
      three->cut();
      while (up.report().links.size() != 2) co_await async::sleep_for(5ms);
      CHECK(std::ranges::all_of(up.report().links, &agent::link_report::connected));
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      for (peer* each : {one.get(), two.get()}) {
        while ((co_await each->next()) != event::ended) {
        }
      }
      one.reset();
      two.reset();
      three.reset();
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  TEST_CASE_FIXTURE(
      fixture, "two addresses of one aggregator share a link, and the second takes over when it breaks") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      auto o = options(at.port());
      o.aggregators.push_back({"localhost", at.port()});
      agent::uplink up(loop, o, b, logger("test", log_level::off));
      up.start();
      auto first = co_await peer::accept(at, server->current(), "r1");
      co_await first->until(event::batch);
      auto second = co_await peer::accept(at, server->current(), "r1");
      co_await second->until(event::batch);
      while ((co_await first->next()) != event::ended) {
      }
      first.reset();
      // The report counts what went to the replica once, by whichever link.
      const auto told = up.report().links;
      REQUIRE(told.size() == 1);
      CHECK(told[0].aggregator == "r1");
      CHECK(told[0].connected);
      CHECK(told[0].batches >= 2);
      // The first link rests: it does not dial while the second one is up.
      co_await async::sleep_for(3s);
      b.set(watts, 3.0);
      up.changed();
      co_await second->until(event::batch);
      second->cut();
      auto third = co_await peer::accept(at, server->current(), "r1");
      co_await third->until(event::batch);
      third.reset();
      bool stopped = false;
      up.stop(100ms, [&stopped] { stopped = true; });
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  TEST_CASE_FIXTURE(fixture,
                    "a server that speaks no binnacle/1 is left, and the credential is read for each hello") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      auto o = options(at.port());
      int read = 0;
      o.credential = [&read] { return "token-" + std::to_string(++read); };
      agent::uplink up(loop, o, b, logger("test", log_level::off));
      up.start();
      tls::options web;
      web.tls13_only = true;
      web.pem = servers.issue_server();
      web.pem.authority = agents.certificate();
      auto other = tls::context::load(web).value();
      {
        auto socket = co_await at.accept();
        async::stream stream(std::move(socket.value()), other->current(), tls::role::server);
        (void)co_await stream.handshake(within(5s));
        char byte[16];
        auto got = co_await stream.read_some(byte, within(5s));
        CHECK((got.has_error() || got.value() == 0));  // it gives nothing to a stranger
      }
      CHECK(read == 0);
      auto p = co_await peer::accept(at, server->current(), "r1");
      co_await p->until(event::batch);
      CHECK(p->hello.credential == "token-1");
      p.reset();
      bool stopped = false;
      up.stop(100ms, [&stopped] { stopped = true; });
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  // Before, every message was followed, which left no time for reading the sensors.
  TEST_CASE_FIXTURE(fixture, "an aggregator that changes its mind all the time is followed once a second") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      auto o = options(at.port());
      std::string wanted;
      int calls = 0;
      o.on_interest = [&](std::size_t, const wire::interest& i) {
        ++calls;
        wanted = i.wishes.empty() ? "nothing" : i.wishes[0].family;
      };
      agent::uplink up(loop, o, b, logger("test", log_level::off));
      up.start();
      auto p = co_await peer::accept(at, server->current(), "r1");
      co_await p->until(event::batch);
      const instant begun = boot_clock::now();
      wire::interest some, none, last;
      some.wishes.push_back({"rapl_power_watts", 200});
      last.wishes.push_back({"os_load1", 500});
      for (int i = 0; i < 5000; ++i) REQUIRE(p->machine().want(i % 2 == 0 ? some : none).has_value());
      REQUIRE(p->machine().want(last).has_value());
      b.set(watts, 1.0);
      up.changed();
      co_await p->until(event::batch);
      for (int turn = 0; turn < 12'000 && wanted != "os_load1"; ++turn) co_await async::sleep_for(5ms);
      CHECK(wanted == "os_load1");
      CHECK(calls <= agent::uplink_options::most_interests_at_once + 1 + (boot_clock::now() - begun) / 1s);
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      while ((co_await p->next()) != event::ended) {
      }
      p.reset();
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }

  TEST_CASE_FIXTURE(fixture, "the interest reaches the agent, and the loss of the link too") {
    support::run([this](async::loop& loop) -> task<void> {
      auto at = async::listener::open(loop, "127.0.0.1", 0, logger("test", log_level::off)).value();
      auto o = options(at.port());
      std::string wanted;
      bool lost = false;
      o.on_interest = [&](std::size_t, const wire::interest& i) { wanted = i.wishes.at(0).family; };
      o.on_lost = [&](std::size_t link) { lost = link == 0; };
      agent::uplink up(loop, o, b, logger("test", log_level::off));
      up.start();
      auto p = co_await peer::accept(at, server->current(), "r1");
      co_await p->until(event::batch);
      wire::interest i;
      i.wishes.push_back({"rapl_power_watts", 200});
      REQUIRE(p->machine().want(i).has_value());
      b.set(watts, 1.0);
      up.changed();
      co_await p->until(event::batch);
      for (int turn = 0; turn < 200 && wanted.empty(); ++turn) co_await async::sleep_for(5ms);
      CHECK(wanted == "rapl_power_watts");
      p->cut();
      for (int turn = 0; turn < 200 && !lost; ++turn) co_await async::sleep_for(5ms);
      CHECK(lost);
      p = co_await peer::accept(at, server->current(), "r1");
      co_await p->until(event::batch);
      bool stopped = false;
      up.stop(1s, [&stopped] { stopped = true; });
      while ((co_await p->next()) != event::ended) {
      }
      p.reset();
      while (!stopped) co_await async::sleep_for(5ms);
    });
  }
}

}  // namespace

}  // namespace uplink_test
