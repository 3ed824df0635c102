#pragma once

#include "agent/sources/scrape/scrape_source.hpp"
#include "common/async/listener.hpp"
#include "common/async/stream.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/net/run.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Real exporters on loopback, and a scrape source that asks them.
namespace binnacle::agent::test {

using async::task;
using async::within;
using namespace std::chrono_literals;

inline const logger quiet("test", log_level::off);

inline std::string answer(const std::string& body, const std::string& headers = {}) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

/// What an exporter does on a connection once it has the request.
using behaviour = task<void> (*)(async::stream& peer);

/// An exporter that answers with `text`, or does as told.
struct exporter {
  explicit exporter(async::loop& on, std::shared_ptr<SSL_CTX> security = nullptr)
      : tls(std::move(security)),
        group(on, quiet),
        door(async::listener::open(on, "127.0.0.1", 0, quiet).value()) {
    group.spawn("accept", accept());
  }
  task<void> accept() {
    for (;;) {
      auto socket = co_await door.accept();
      if (socket.has_error()) co_return;
      ++accepted;
      auto peer = std::make_shared<async::stream>(std::move(*socket), tls, tls::role::server);
      group.spawn("serve", serve(std::move(peer)));
    }
  }
  task<void> serve(std::shared_ptr<async::stream> peer) {
    const auto shaken = co_await peer->handshake(within(5s));
    if (shaken.has_error()) co_return;
    char buffer[4096];
    const auto got = co_await peer->read_some(buffer, within(5s));
    if (got.has_error() || *got == 0) co_return;
    asked.assign(buffer, *got);
    if (does != nullptr) {
      co_await does(*peer);
      co_return;
    }
    const std::string text = says;
    const auto sent = co_await peer->write(text, within(5s));
    if (sent) peer->end_writing();
    co_await async::sleep_for(50ms);
  }
  task<void> end() {
    door.close();
    group.cancel();
    const bool ended = co_await group.wait(within(5s));
    REQUIRE(ended);
  }
  scrape_target target() const {
    auto t = parse_target("http://127.0.0.1:" + std::to_string(door.port()) + "/metrics").value();
    t.name = "exporter";
    t.period = 50ms;
    return t;
  }

  std::string says;
  behaviour does = nullptr;
  std::string asked;
  int accepted = 0;
  std::shared_ptr<SSL_CTX> tls;
  async::task_group group;
  async::listener door;
};

/// Runs `body` with an exporter, and ends the exporter before the loop.
inline void with_exporter(const std::function<task<void>(async::loop&, exporter&)>& body,
                          std::shared_ptr<SSL_CTX> security = nullptr) {
  support::run([&](async::loop& on) -> task<void> {
    exporter e(on, security);
    co_await body(on, e);
    co_await e.end();
  });
}

/// A running source and its board.
struct bench {
  bench(async::loop& on, std::vector<scrape_target> targets, std::shared_ptr<foreign_names> names = {})
      : tasks(on, quiet), something(std::make_shared<async::event>(on)) {
    scrape_options o;
    o.targets = std::move(targets);
    if (names) o.names = std::move(names);
    source = std::make_unique<scrape_source>(std::move(o));
    source->start(tasks, [e = something] { e->notify(); });
    REQUIRE(source->discover(out));
  }
  /// Waits until the next outcome is on the board.
  task<void> next() {
    const bool came = co_await something->wait(within(90s));
    REQUIRE(came);
    last = source->read(out);
  }
  std::uint64_t refused(std::string_view reason) const {
    for (const auto& r : out.refused()) {
      if (r.reason == reason) return r.count;
    }
    return 0;
  }
  std::string up() const { return shown(out, "binnacle_agent_scrape_up", {{"target", "exporter"}}); }

  board out;
  async::task_group tasks;
  std::shared_ptr<async::event> something;
  std::unique_ptr<scrape_source> source;
  result<void> last;
};

}  // namespace binnacle::agent::test
