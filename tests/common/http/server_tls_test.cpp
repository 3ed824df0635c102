#include "common/http/server.hpp"
#include "common/system/read_file.hpp"
#include "common/tls/certificate.hpp"
#include "tests/common/http/server_routes.hpp"
#include "tests/support/net/pki.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace binnacle;
using support::https_client;
using support::served;
using support::test_routes;

struct tls_house {
  support::temp_folder dir;
  support::authority servers{dir, "servers"};
  support::authority clients{dir, "clients"};
  support::authority strangers{dir, "strangers"};

  std::shared_ptr<tls::context> context(tls::client_certificate wanted, const std::string& denied) {
    tls::options o;
    o.side = tls::role::server;
    o.pem = servers.issue_server();
    o.pem.authority = clients.certificate();
    o.pem.denied = denied;
    o.clients = wanted;
    o.alpn = "http/1.1";
    return tls::context::load(o).value();
  }
  http::server_options options(tls::client_certificate wanted, const std::string& denied = {}) {
    http::server_options o;
    o.tls = context(wanted, denied);
    return o;
  }
  std::string serial_of(const std::string& file) const {
    return tls::read_certificates(read_file(dir / (file + ".crt"), 1u << 20).value(), file)->front().serial;
  }
  https_client anyone(const served& s) {
    https_client::options o;
    o.port = s.port();
    o.pem.authority = servers.certificate();
    return https_client(o);
  }
  https_client holder(const served& s, support::authority& by, const std::string& file) {
    return holder(s, by, 3600, file);
  }
  https_client holder(const served& s, support::authority& by, long valid_to = 3600,
                      const std::string& file = "client") {
    support::wanted what;
    what.common_name = "scheduler";
    what.valid_from = -7200;
    what.valid_to = valid_to;
    https_client::options o;
    o.port = s.port();
    o.pem = by.issue(file, what);
    o.pem.authority = servers.certificate();
    return https_client(o);
  }
};

/// Sends a part of a record after so many requests. A busy machine may be too late with what comes before.
bool is_ended_after_a_part(https_client& client, int requests) {
  for (int tries = 0; tries < 50; ++tries) {
    try {
      client.connect();
      for (int i = 0; i < requests; ++i) client.get("/who");
      client.send_bare("\x17\x03\x03");
    } catch (const std::runtime_error&) {
      continue;
    }
    return client.ended_by_peer();
  }
  return false;
}

TEST_SUITE("common/http/server under TLS") {
  TEST_CASE("a required client certificate names the caller; without a good one there is no answer") {
    tls_house h;
    served s(test_routes(), h.options(tls::client_certificate::required));
    CHECK(h.holder(s, h.clients).get("/who").body == "scheduler");
    CHECK_THROWS(h.anyone(s).get("/who"));
    CHECK_THROWS(h.holder(s, h.strangers).get("/who"));
    CHECK_THROWS(h.holder(s, h.clients, -3600).get("/who"));
    CHECK(s.counters().handshake_failures == 3);
    CHECK(h.holder(s, h.clients).get("/who").body == "scheduler");
  }

  TEST_CASE("an optional client certificate names the caller if it is good, and is otherwise nobody's") {
    tls_house h;
    served s(test_routes(), h.options(tls::client_certificate::optional));
    CHECK(h.holder(s, h.clients).get("/who").body == "scheduler");
    CHECK(h.anyone(s).get("/who").body == "nobody");
    CHECK(h.holder(s, h.strangers).get("/who").body == "nobody");
    CHECK(h.holder(s, h.clients, -3600).get("/who").body == "nobody");
    CHECK(s.counters().handshake_failures == 0);
  }

  TEST_CASE("a certificate whose serial number is denied opens nothing, and a connection with it ends") {
    for (const auto asked : {tls::client_certificate::required, tls::client_certificate::optional}) {
      tls_house h;
      support::write_file(h.dir / "denied", "");
      auto o = h.options(asked, h.dir / "denied");
      const auto context = o.tls;
      served s(test_routes(), o);
      auto stolen = h.holder(s, h.clients), good = h.holder(s, h.clients, "good");
      CHECK(stolen.get("/who").body == "scheduler");
      CHECK(good.get("/who").body == "scheduler");

      support::write_file(h.dir / "denied", h.serial_of("client") + "  # stolen\n");
      s.on_loop([&] { REQUIRE(context->reload_if_changed().value()); });
      CHECK(stolen.ended_by_peer());
      stolen.disconnect();
      CHECK_THROWS(stolen.get("/who"));
      CHECK(good.get("/who").body == "scheduler");
      CHECK(good.connections() == 1);
      CHECK(s.counters().denied.count == 2);
      CHECK(s.counters().denied.from.starts_with("127.0.0.1:"));

      // On a port that asks other authorities than ours who a caller is, any authority may have signed the
      // certificate.
      auto cousin = h.holder(s, h.strangers, "stranger");
      support::write_file(h.dir / "denied", h.serial_of("stranger"));
      s.on_loop([&] { REQUIRE(context->reload_if_changed().value()); });
      CHECK_THROWS(cousin.get("/who"));
      CHECK(s.counters().denied.count == 3);
      stolen.disconnect();
      CHECK(stolen.get("/who").body == "scheduler");
    }
  }

  TEST_CASE("requests, large bodies and answers go as without TLS") {
    tls_house h;
    served s(test_routes(), h.options(tls::client_certificate::none));
    auto client = h.anyone(s);
    std::string body(1u << 20, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
    CHECK(client.post("/echo", body).body == body);
    CHECK(client.get("/large?pieces=3&size=5000000").body.size() == 15'000'000);
    CHECK(client.post("/count", std::string(30u << 20, 'x')).body == std::to_string(30u << 20));
    CHECK(client.request("HEAD", "/who").status == 200);
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "GET /who HTTP/1.1\r\n\r\n";
    client.send(many);
    for (int i = 0; i < 1000; ++i) REQUIRE(client.receive().body == "nobody");
    const std::string drip = "POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
    for (const char c : drip) client.send({&c, 1});
    CHECK(client.receive().body == "hello");
    CHECK(client.connections() == 1);
  }

  TEST_CASE("requests that OpenSSL holds already wait for a turn of the loop, too") {
    tls_house h;
    served s(test_routes(), h.options(tls::client_certificate::none));
    auto client = h.anyone(s);
    client.connect();
    // Each fills the small buffer exactly, and four of them a record.
    std::string one = "GET /who HTTP/1.1\r\nX: ";
    one += std::string(4096 - one.size() - 4, 'x') + "\r\n\r\n";
    std::string many;
    for (int i = 0; i < 15; ++i) many += one;
    const auto most = s.most_in_a_turn(&http::server_counters::requests, 15, [&] { client.send(many); });
    CHECK(most <= 2);
  }

  TEST_CASE("plain HTTP at this port gets one sentence") {
    tls_house h;
    served s(test_routes(), h.options(tls::client_certificate::required));
    auto client = support::plain_client(s);
    const auto a = client.get("/who");
    CHECK(a.status == 400);
    CHECK(a.body.find("https://") != std::string::npos);
    CHECK(client.ended_by_peer());
  }

  TEST_CASE("a handshake that does not come is not waited for") {
    tls_house h;
    auto o = h.options(tls::client_certificate::required);
    o.header_deadline = std::chrono::milliseconds(50);
    served s(test_routes(), o);
    auto silent = support::plain_client(s);
    silent.connect();
    CHECK(silent.ended_by_peer());
    CHECK(s.counters().silent == 1);
  }

  TEST_CASE("a part of a record is no request: the connection ends when one should have begun") {
    tls_house h;
    auto o = h.options(tls::client_certificate::optional);
    o.first_byte_deadline = o.idle_deadline = std::chrono::milliseconds(250);
    SUBCASE("the wait for a head is longer") { o.header_deadline = std::chrono::milliseconds(400); }
    SUBCASE("the wait for a head is shorter") { o.header_deadline = std::chrono::milliseconds(150); }
    served s(test_routes(), o);
    auto stranger = h.anyone(s), served_before = h.anyone(s), holder = h.holder(s, h.clients);
    CHECK(is_ended_after_a_part(stranger, 0));
    CHECK(s.counters().silent > 0);
    CHECK(is_ended_after_a_part(served_before, 1));
    CHECK(is_ended_after_a_part(holder, 0));
  }

  TEST_CASE("certificates are exchanged under load without losing a request") {
    tls_house h;
    auto o = h.options(tls::client_certificate::required);
    served s(test_routes(), o);
    std::atomic<bool> stop{false};
    std::atomic<int> answered{0};
    std::vector<https_client> callers;
    for (int i = 0; i < 3; ++i) callers.push_back(h.holder(s, h.clients));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < callers.size(); ++i) {
      threads.emplace_back([&, i] {
        int n = 0;
        while (!stop) {
          if (++n % 5 == 0) callers[i].disconnect();  // so that some handshakes use the new certificate
          if (callers[i].post("/echo", "hello").body == "hello") ++answered;
        }
      });
    }
    int reloads = 0;
    for (int i = 0; i < 20; ++i) {
      const int before = answered;
      s.on_loop([&] {
        h.servers.issue_server();
        if (o.tls->reload_if_changed().value()) ++reloads;
      });
      while (answered < before + 10) std::this_thread::yield();
    }
    stop = true;
    for (auto& t : threads) t.join();
    CHECK(reloads == 20);
    CHECK(s.counters().handshake_failures == 0);
  }

  TEST_CASE(
      "a server whose own certificate has ended is refused by its callers, and recovers with a new one") {
    tls_house h;
    auto o = h.options(tls::client_certificate::none);
    support::wanted old;
    old.dns_names = {"localhost"};
    old.valid_from = -100;
    old.valid_to = -10;
    h.servers.issue("server", old);
    o.tls = [&] {
      tls::options t;
      t.side = tls::role::server;
      t.pem = {h.dir / "server.crt", h.dir / "server.key", {}};
      t.clients = tls::client_certificate::none;
      return std::shared_ptr<tls::context>(tls::context::load(t).value());
    }();
    served s(test_routes(), o);
    CHECK_THROWS(h.anyone(s).get("/who"));
    s.on_loop([&] {
      h.servers.issue_server();
      CHECK(o.tls->reload_if_changed().value());
    });
    CHECK(h.anyone(s).get("/who").status == 200);
  }
}

}  // namespace
