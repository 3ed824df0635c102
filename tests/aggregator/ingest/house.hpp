#pragma once

#include "aggregator/core/core.hpp"
#include "aggregator/ingest/authorise.hpp"
#include "aggregator/ingest/listener.hpp"
#include "common/async/stream.hpp"
#include "common/async/timers.hpp"
#include "common/wire/agent_session.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/run.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

/// An ingest with its core on loopback, and agents to visit it.
namespace binnacle::ingest::test {

using namespace std::chrono_literals;
using async::task;
using async::within;

struct house {
  explicit house(async::loop& on, ingest_options o = {}, std::size_t most_nodes = 20'000)
      : loop(on),
        core({.limits = {.nodes = most_nodes}}, names, [this](aggregator::change c) { take(std::move(c)); }) {
    tls::options server{tls::role::server, ca.issue_server(),
                        o.review ? tls::client_certificate::optional : tls::client_certificate::required,
                        true, "binnacle/1"};
    o.address = "127.0.0.1";
    o.port = 0;
    support::write_file(dir / "denied", "");
    server.pem.denied = dir / "denied";
    certificates = tls::context::load(server).value();
    o.tls = certificates;
    o.replica_id = "replica-1";
    door = std::make_unique<listener>(on, std::move(o), core, logger("test", log_level::off));
    REQUIRE(door->start().has_value());
  }

  std::shared_ptr<SSL_CTX> certificate_of(const std::string& node) {
    support::wanted what;
    what.common_name = node;
    what.dns_names = {node};
    tls::options client{tls::role::client, ca.issue(node, what), tls::client_certificate::none, true,
                        "binnacle/1"};
    return tls::context::load(client).value()->current();
  }

  /// The context of an agent that has a token but no certificate.
  std::shared_ptr<SSL_CTX> no_certificate() {
    tls::options client{tls::role::client, {}, tls::client_certificate::none, true, "binnacle/1"};
    client.pem.authority = ca.certificate();
    return tls::context::load(client).value()->current();
  }

  /// Lets the loop run until `condition` holds. The test fails if that takes more than half a minute.
  template <class Condition>
  task<void> until(Condition condition, int line = __builtin_LINE()) {
    CAPTURE(line);
    const async::deadline end = within(30s);
    while (!condition() && std::chrono::steady_clock::now() < end) co_await async::sleep_for(1ms);
    CHECK(condition());
  }
  /// The aggregator waits for so long for connected agents. A test that expects their goodbye gives a longer
  /// time.
  task<void> stop(std::chrono::milliseconds grace = 20ms) {
    auto stopped = std::make_shared<bool>(false);
    door->stop(grace, [stopped] { *stopped = true; });
    auto done = [stopped] { return *stopped; };
    co_await until(done);
  }
  void take(aggregator::change c) {
    if (auto* wanted = std::get_if<aggregator::interest_changed>(&c))
      door->set_interest(std::move(wanted->wanted));
    auto* news = std::get_if<aggregator::faces_news>(&c);
    if (news == nullptr) return;
    if (auto* update = std::get_if<store::node_update>(news)) {
      ++updates;
      view.apply(std::move(*update));
    }
  }
  std::uint64_t ended(wire::reason r) const { return door->counters().of(r); }

  async::loop& loop;
  support::temp_folder dir;
  support::authority ca{dir, "agents"};
  std::shared_ptr<const metrics::alias_table> names = std::make_shared<metrics::alias_table>();
  aggregator::core core;
  const store::warehouse& store = core.store();
  store::view view;
  std::size_t updates = 0;
  std::shared_ptr<tls::context> certificates;
  std::unique_ptr<listener> door;
};

/// An agent that follows the protocol, and can also send what no real agent would.
struct visitor {
  visitor(house& h, const std::string& certificate) : where(h), tls(h.certificate_of(certificate)) {}
  explicit visitor(house& h) : where(h), tls(h.no_certificate()) {}

  task<bool> connect() {
    if (!from.empty()) co_return co_await connect_from();
    auto made = co_await async::connect("127.0.0.1", where.door->port(), tls, "localhost", within(5s));
    if (made.has_error()) co_return false;
    peer = std::make_unique<async::stream>(std::move(*made));
    co_return true;
  }

  /// Connects from another loopback address: the socket is bound to it first.
  task<bool> connect_from() {
    async::tcp_socket socket(where.loop);
    const async::tcp::endpoint here(boost::asio::ip::make_address(from), 0);
    const async::tcp::endpoint there(boost::asio::ip::make_address("127.0.0.1"), where.door->port());
    socket.open(async::tcp::v4());
    socket.bind(here);
    socket.connect(there);
    peer = std::make_unique<async::stream>(std::move(socket), tls, binnacle::tls::role::client, "localhost");
    const auto shaken = co_await peer->handshake(within(5s));
    co_return shaken.has_value();
  }

  /// Connects and says hello. `session` then has the aggregator's answer.
  task<void> hello(std::string node, std::string cluster = "", std::string boot = "boot-1") {
    const bool connected = co_await connect();
    REQUIRE(connected);
    wire::hello h;
    h.agent_version = "0.1-test";
    h.cluster = std::move(cluster);
    h.node = std::move(node);
    h.boot_id = std::move(boot);
    h.process = process;
    h.credential = credential;
    REQUIRE(session.start(std::move(h), boot_clock::now()).has_value());
    co_await send();
    co_await next();
  }
  /// Says hello, sends the catalog of a machine with two packages and a first full batch, and waits until
  /// these values are in the view.
  task<void> settle(std::string node) {
    catalog = store::two_packages();
    co_await settle_with_catalog(std::move(node));
  }
  /// The same with the catalog in `catalog`.
  task<void> settle_with_catalog(std::string node) {
    const std::string session_node = node;
    co_await hello(std::move(node));
    REQUIRE(session.now_in() == wire::agent_session::state::streaming);
    REQUIRE(session.send(catalog, boot_clock::now()).has_value());
    wire::batch all{.full = true};
    const instant now = boot_clock::now();
    for (std::uint16_t g = 0; g < catalog.groups.size(); ++g) all.reads.push_back({g, to_ns(now)});
    for (std::uint32_t i = 0; i < catalog.series.size(); ++i) all.values.push_back({i, 100 + i});
    REQUIRE(session.send(all, now).has_value());
    co_await send();
    const std::string name = canonical_node(session_node);
    auto here = [this, name] {
      const store::node_view* n = where.view.find(name);
      return n != nullptr && n->cells && n->cells->load(0).reason == absence::none;
    };
    co_await where.until(here);
  }
  wire::batch changed(std::vector<wire::series_value> values) const {
    wire::batch b;
    const std::int64_t now = to_ns(boot_clock::now());
    for (std::uint16_t g = 0; g < catalog.groups.size(); ++g) b.reads.push_back({g, now});
    b.values = std::move(values);
    return b;
  }
  task<void> report(std::uint32_t series, std::int64_t mantissa) {
    wire::batch b = changed({{series, mantissa}});
    REQUIRE(session.send(b, boot_clock::now()).has_value());
    co_await send();
  }

  wire::bytes take() {
    wire::bytes out;
    session.take_output(out);
    return out;
  }
  task<bool> send_raw(const wire::bytes& raw) {
    const std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
    auto sent = co_await peer->write(text, within(5s));
    co_return sent.has_value();
  }
  task<void> send() {
    const wire::bytes out = take();
    co_await send_raw(out);
  }

  /// The next message of the aggregator; `ended` also if it closed the connection without a message.
  task<wire::agent_session::event> next() {
    for (;;) {
      last = session.next(boot_clock::now());
      if (last != wire::agent_session::event::nothing) co_return last;
      const auto room = session.prepare();
      auto got = co_await peer->read_some({reinterpret_cast<char*>(room.data()), room.size()}, within(5s));
      if (got.has_error() || *got == 0) {
        silent_end = true;
        co_return last = wire::agent_session::event::ended;
      }
      session.received(*got);
    }
  }
  wire::reason why() const { return session.ended() ? session.ended()->why : wire::reason::none; }
  std::string told() const { return session.ended() ? session.ended()->message : std::string(); }

  house& where;
  std::string from = {};  ///< the address that it connects from; empty: 127.0.0.1
  std::shared_ptr<SSL_CTX> tls;
  std::string credential;
  std::uint64_t process = 0;
  std::unique_ptr<async::stream> peer;
  wire::agent_session session{{}};
  wire::agent_session::event last = wire::agent_session::event::nothing;
  bool silent_end = false;
  wire::catalog catalog;
};

}  // namespace binnacle::ingest::test
