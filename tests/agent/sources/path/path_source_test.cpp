// Sends real probes on loopback.
#include "agent/sources/path/path_source.hpp"

#include "agent/sources/path/echo.hpp"
#include "common/async/listener.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/read_file.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/net/run.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>

namespace path_source_test {

namespace {

using namespace binnacle;
using namespace binnacle::agent;
using agent::test::entry_of;
using agent::test::shown;
using async::task;
using async::within;
using support::run;
using namespace std::chrono_literals;

const logger quiet("test", log_level::off);

/// A port with room for one connection in its queue. It drops further connection attempts.
struct full_port {
  full_port() : door(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(door.get(), reinterpret_cast<const sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(door.get(), 0) == 0);
    REQUIRE(::getsockname(door.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port = ntohs(at.sin_port);
    for (auto& c : callers) {
      c = descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)::connect(c.get(), reinterpret_cast<const sockaddr*>(&at), size);
    }
  }
  descriptor door;
  std::array<descriptor, 4> callers;
  std::uint16_t port = 0;
};

struct bench {
  bench(async::loop& on, std::vector<std::string> peers, duration period = 100ms)
      : tasks(on, quiet), something(std::make_shared<async::event>(on)) {
    path_options o;
    o.peers = parse_peers(peers).value();
    o.period = period;
    source = std::make_unique<path_source>(std::move(o));
    source->start(tasks, [e = something] { e->notify(); });
    REQUIRE(source->discover(out));
  }
  task<void> next() {
    const bool came = co_await something->wait(within(10s));
    REQUIRE(came);
    REQUIRE(source->read(out));
  }
  std::string value(const char* family, const std::string& peer) {
    return shown(out, family, {{"peer", peer}});
  }
  double number(const char* family, const std::string& peer) {
    const auto* e = entry_of(out, family, {{"peer", peer}});
    REQUIRE(e != nullptr);
    REQUIRE(e->reason == absence::none);
    return to_double(e->value);
  }

  board out;
  async::task_group tasks;
  std::shared_ptr<async::event> something;
  std::unique_ptr<path_source> source;
};

TEST_SUITE("agent/sources/path/source") {
  TEST_CASE("an exception where an answer arrives ends no peer's probes") {
    run([](async::loop& on) -> task<void> {
      async::task_group tasks(on, quiet);
      const auto something = std::make_shared<async::event>(on);
      const auto arrivals = std::make_shared<int>();
      path_options o;
      o.peers = parse_peers({"127.0.0.1:1"}).value();
      o.period = 100ms;
      path_source source(std::move(o));
      source.start(tasks, [something, arrivals] {
        something->notify();
        if (++*arrivals == 1) throw std::runtime_error("as the test wants");
      });
      while (*arrivals < 3) {
        const bool came = co_await something->wait(within(1min));
        REQUIRE(came);
      }
    });
  }

  TEST_CASE("a port that answers gives round trip, jitter and no loss") {
    run([](async::loop& on) -> task<void> {
      auto door = async::listener::open(on, "127.0.0.1", 0, quiet).value();
      const auto peer = "localhost:" + std::to_string(door.port());
      bench b(on, {peer});
      const auto begun = boot_clock::now();
      co_await b.next();
      CHECK(b.value("path_jitter_seconds", peer) == "not_read_yet");
      for (int i = 0; i < 3; ++i) co_await b.next();
      CHECK(boot_clock::now() - begun > 250ms);  // one probe per period
      CHECK(b.value("path_up", peer) == "1");
      CHECK(b.value("path_loss_ratio", peer) == "0.0000");
      CHECK(b.number("path_round_trip_seconds", peer) > 0);
      CHECK(b.number("path_round_trip_seconds", peer) < 0.1);
      CHECK(b.number("path_jitter_seconds", peer) < 0.1);
    });
  }

  TEST_CASE("a port that drops what is sent to it is lost, and takes nobody with it") {
    run([](async::loop& on) -> task<void> {
      auto door = async::listener::open(on, "127.0.0.1", 0, quiet).value();
      const full_port full;
      const auto good = "127.0.0.1:" + std::to_string(door.port());
      const auto bad = "127.0.0.1:" + std::to_string(full.port);
      bench b(on, {"good=" + good, "bad=" + bad});
      while (b.value("path_up", "bad") != "0") co_await b.next();
      CHECK(b.value("path_loss_ratio", "bad") == "1.0000");
      CHECK(b.value("path_round_trip_seconds", "bad") == "timeout");
      CHECK(b.value("path_jitter_seconds", "bad") == "timeout");
      CHECK(b.source->limitation().find("bad: " + bad + ": no answer in time: is the peer up") == 0);
      while (b.value("path_up", "good") != "1") co_await b.next();
      CHECK(b.value("path_loss_ratio", "good") == "0.0000");
    });
  }

  TEST_CASE("a port that refuses is down with the remedy, and up when somebody listens") {
    run([](async::loop& on) -> task<void> {
      std::uint16_t port = 0;
      {
        auto door = async::listener::open(on, "127.0.0.1", 0, quiet).value();
        port = door.port();
        door.close();
      }
      const auto peer = "127.0.0.1:" + std::to_string(port);
      bench b(on, {peer});
      co_await b.next();
      CHECK(b.value("path_up", peer) == "0");
      CHECK(b.source->limitation().find("Connection refused: does the peer listen on that port") !=
            std::string::npos);
      auto door = async::listener::open(on, "127.0.0.1", port, quiet).value();
      while (b.value("path_up", peer) != "1") co_await b.next();
      CHECK(b.number("path_loss_ratio", peer) > 0);
      CHECK(b.source->limitation().empty());
    });
  }

  TEST_CASE("a name that nobody knows is no loss: nothing was sent") {
    run([](async::loop& on) -> task<void> {
      bench b(on, {"no-such-host.invalid:1"}, 1s);
      co_await b.next();
      CHECK(b.value("path_up", "no-such-host.invalid:1") == "missing");
      CHECK(b.value("path_loss_ratio", "no-such-host.invalid:1") == "missing");
      CHECK(!b.source->limitation().empty());
    });
  }

  TEST_CASE("echo requests over IPv4 and IPv6, or the privilege that is missing") {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto may = echo_socket::open(reinterpret_cast<const sockaddr*>(&any), sizeof any);
    // Where IPv6 is switched off, the file exists and is empty.
    const auto addresses = read_file("/proc/net/if_inet6", 65536);
    const bool v6 = addresses && addresses->find(std::string(31, '0') + "1 ") != addresses->npos;
    run([&](async::loop& on) -> task<void> {
      std::vector<std::string> peers{"icmp:127.0.0.1"};
      if (v6) peers.emplace_back("icmp:::1");
      bench b(on, peers);
      for (const auto& peer : peers) {
        if (!may) {
          co_await b.next();
          CHECK(b.value("path_up", peer) == "permission");
          CHECK(b.source->limitation().find("net.ipv4.ping_group_range") != std::string::npos);
          continue;
        }
        while (b.value("path_jitter_seconds", peer) == "not_read_yet") co_await b.next();
        CHECK(b.value("path_up", peer) == "1");
        CHECK(b.value("path_loss_ratio", peer) == "0.0000");
        CHECK(b.number("path_round_trip_seconds", peer) < 0.1);
      }
    });
  }

  TEST_CASE("the probe names what each peer gives or what would mend it") {
    const full_port full;
    path_options o;
    o.peers = parse_peers({"127.0.0.1:1", "full=127.0.0.1:" + std::to_string(full.port)}).value();
    o.timeout = 200ms;
    const auto found = path_source(std::move(o)).probe();
    REQUIRE(found.size() == 2);
    CHECK(found[0].how == finding::grade::broken);
    CHECK(found[0].why.find("Connection refused") != std::string::npos);
    CHECK(found[0].remedy.find("does the peer listen on that port") == 0);
    CHECK(found[1].why.find("no answer in time") != std::string::npos);
  }
}

}  // namespace

}  // namespace path_source_test
