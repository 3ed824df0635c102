// Who is served when more come than there are places for.
#include "common/http/server.hpp"
#include "tests/common/http/server_routes.hpp"

#include <chrono>
#include <thread>
#include <vector>

namespace server_crowd_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using support::https_client;
using support::plain_client;
using support::served;
using support::test_routes;

http::server_options of_size(std::size_t most) {
  http::server_options o;
  o.max_connections = most;
  return o;
}

/// Silent connections, made one after the other.
struct silent_crowd {
  silent_crowd(served& at, std::size_t many) {
    for (std::size_t i = 0; i < many; ++i) clients.push_back(plain_client(at));
    for (auto& one : clients) one.connect();
  }
  std::vector<https_client> clients;
};

void until_open(served& s, std::uint64_t many) {
  while (s.counters().open != many) std::this_thread::yield();
}

TEST_SUITE("common/http/server crowd") {
  TEST_CASE("silent connections keep nobody out: each newcomer takes the place of the oldest") {
    served s(test_routes(), of_size(4));
    silent_crowd crowd(s, 4);
    until_open(s, 4);
    std::vector<https_client> newcomers;
    for (std::size_t i = 0; i < 4; ++i) {
      newcomers.push_back(plain_client(s));
      CHECK(newcomers.back().get("/who").status == 200);
      CHECK(crowd.clients[i].ended_by_peer());
      CHECK(s.counters().evicted == i + 1);
    }
    // Then of those who were served the one that has waited longest.
    CHECK(newcomers.front().get("/who").status == 200);
    auto last = plain_client(s);
    CHECK(last.get("/who").status == 200);
    CHECK(newcomers[1].ended_by_peer());
    CHECK(newcomers.front().connections() == 1);
    CHECK(s.counters().rejected == 0);
  }

  TEST_CASE("whoever was served before stays while there are silent ones") {
    served s(test_routes(), of_size(4));
    auto known = plain_client(s);
    CHECK(known.get("/who").status == 200);
    silent_crowd crowd(s, 20);
    CHECK(crowd.clients[15].ended_by_peer());
    CHECK(known.get("/who").status == 200);
    CHECK(known.connections() == 1);
  }

  TEST_CASE("a request in progress is never cut: a newcomer for which none can go is closed and counted") {
    served s(test_routes(), of_size(2));
    auto a = plain_client(s);
    auto b = plain_client(s);
    for (auto* busy : {&a, &b}) busy->send("POST /echo HTTP/1.1\r\nContent-Length: 4\r\n\r\nso");
    while (s.counters().requests != 2) std::this_thread::yield();
    auto newcomer = plain_client(s);
    newcomer.connect();
    CHECK(newcomer.ended_by_peer());
    CHECK(s.counters().rejected == 1);
    for (auto* busy : {&a, &b}) {
      busy->send("me");
      CHECK(busy->receive().body == "some");
    }
    CHECK(s.counters().evicted == 0);
  }

  TEST_CASE("a request whose peer stands still gives way") {
    auto o = of_size(1);
    o.first_byte_deadline = 1ms;
    served s(test_routes(), o);
    auto stuck = plain_client(s);
    stuck.send("POST /echo HTTP/1.1\r\nContent-Length: 4\r\n\r\nso");
    while (s.counters().requests != 1) std::this_thread::yield();
    std::this_thread::sleep_for(5ms);  // longer than it may stand still
    auto newcomer = plain_client(s);
    CHECK(newcomer.get("/who").status == 200);
    CHECK(stuck.ended_by_peer());
    CHECK(s.counters().evicted == 1);
  }

  TEST_CASE("a silent connection is closed soon, a connection that has been served may wait") {
    http::server_options o;
    o.first_byte_deadline = 200ms;
    served s(test_routes(), o);
    auto known = plain_client(s);
    CHECK(known.get("/who").status == 200);
    auto silent = plain_client(s);
    silent.connect();
    CHECK(silent.ended_by_peer());
    CHECK(s.counters().silent == 1);
    CHECK(known.get("/who").status == 200);
    CHECK(known.connections() == 1);
  }
}

}  // namespace

}  // namespace server_crowd_test
