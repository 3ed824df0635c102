// Who is served when more callers come than there are places.
#include "common/async/listener.hpp"
#include "common/http/server.hpp"
#include "tests/common/http/server_routes.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
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

/// Connections that send nothing, made one after another.
struct silent_crowd {
  silent_crowd(served& at, std::size_t many) {
    for (std::size_t i = 0; i < many; ++i) clients.push_back(plain_client(at));
    for (auto& one : clients) one.connect();
  }
  std::vector<https_client> clients;
};

/// Whether a newcomer is served at last. `meanwhile` is called between two attempts.
template <class Work>
bool is_served(served& s, Work meanwhile) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < until) {
    meanwhile();
    try {
      if (plain_client(s).get("/who").status == 200) return true;
    } catch (const std::runtime_error&) {  // the server closed it
    }
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

https_client client_from(served& s, const char* address) {
  https_client::options o;
  o.port = s.port();
  o.from = address;
  return https_client(o);
}

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
    // Of the connections that were served, the one that has waited longest must go next.
    CHECK(newcomers.front().get("/who").status == 200);
    auto last = plain_client(s);
    CHECK(last.get("/who").status == 200);
    CHECK(newcomers[1].ended_by_peer());
    CHECK(newcomers.front().connections() == 1);
    CHECK(s.counters().rejected == 0);
  }

  TEST_CASE("a crowd that waits to be accepted is taken soon, and the rest of the loop runs meanwhile") {
    served s(test_routes());
    constexpr std::size_t many = 100;
    std::optional<silent_crowd> crowd;
    // While the loop stands still, the kernel takes them all.
    const auto most =
        s.most_in_a_turn(&http::server_counters::accepted, many, [&] { crowd.emplace(s, many); });
    CHECK(most == async::listener::most_per_turn);
  }

  TEST_CASE("requests that came together with others are served one in each turn of the loop") {
    served s(test_routes());
    constexpr std::uint64_t each = 200;
    silent_crowd crowd(s, 8);
    until_open(s, crowd.clients.size());
    std::string many;
    for (std::uint64_t i = 0; i < each; ++i) many += "GET /who HTTP/1.1\r\n\r\n";
    const auto most = s.most_in_a_turn(&http::server_counters::requests, each * crowd.clients.size(), [&] {
      for (auto& one : crowd.clients) one.send(many);
    });
    // The first request of a connection waits for no other.
    CHECK(most <= crowd.clients.size() + 1);
    for (auto& one : crowd.clients) {
      for (std::uint64_t i = 0; i < each; ++i) REQUIRE(one.receive().body == "nobody");
    }
  }

  TEST_CASE("a newcomer gets the place of a connection whose requests wait for their turn") {
    served s(test_routes(), of_size(2));
    silent_crowd crowd(s, 2);
    until_open(s, 2);
    constexpr int each = 2000;
    std::string many;
    for (int i = 0; i < each; ++i) many += "GET /who HTTP/1.1\r\n\r\n";
    for (auto& one : crowd.clients) one.send(many);
    std::vector<std::jthread> readers;  // so that no connection waits for its peer
    for (auto& one : crowd.clients) {
      readers.emplace_back([&one] {
        try {
          for (int i = 0; i < each; ++i) one.receive();
        } catch (const std::exception&) {  // it gave way
        }
      });
    }
    while (s.counters().requests < 10) std::this_thread::yield();
    CHECK(plain_client(s).get("/who").status == 200);
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
    auto o = of_size(2);
    o.first_byte_deadline = 1min;  // so that no connection counts as standing still
    served s(test_routes(), o);
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
    std::this_thread::sleep_for(5ms);  // longer than the time after which it counts as standing still
    auto newcomer = plain_client(s);
    CHECK(newcomer.get("/who").status == 200);
    CHECK(stuck.ended_by_peer());
    CHECK(s.counters().evicted == 1);
  }

  TEST_CASE("a body that drips gives way as one that stands still") {
    auto o = of_size(1);
    o.first_byte_deadline = 100ms;
    served s(test_routes(), o);
    auto slow = plain_client(s);
    slow.send("POST /echo HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
    while (s.counters().requests != 1) std::this_thread::yield();
    const auto drip = [&] {
      try {
        slow.send("x");
      } catch (const std::runtime_error&) {  // the server has closed it
      }
    };
    CHECK(is_served(s, drip));
    CHECK(s.counters().evicted >= 1);
  }

  TEST_CASE("a head that drips gives way") {
    served s(test_routes(), of_size(1));
    auto slow = plain_client(s);
    slow.send("GET /who HTTP/1.1\r\nX: ");
    until_open(s, 1);
    CHECK(plain_client(s).get("/who").status == 200);
    CHECK(slow.ended_by_peer());
  }

  TEST_CASE("a body that the path does not take is not read, and its connection ends and gives way at once") {
    served s(test_routes(), of_size(1));
    for (const char* announced : {"Content-Length: 1000000", "Transfer-Encoding: chunked"}) {
      auto large = plain_client(s);
      large.send(std::string("GET /who HTTP/1.1\r\n") + announced + "\r\n\r\n");
      const auto said = large.receive();
      CHECK(said.status == 200);
      CHECK(said.headers.at("connection") == "close");
      large.send("1");  // it goes on all the same
      CHECK(plain_client(s).get("/who").status == 200);
    }
    CHECK(s.counters().rejected == 0);
  }

  TEST_CASE("an address with more than half of the places cannot keep others out by requests that go on") {
    auto o = of_size(4);
    o.first_byte_deadline = 1min;  // so that no connection counts as standing still
    served s(test_routes(), o);
    std::vector<https_client> many;
    for (int i = 0; i < 4; ++i) {
      many.push_back(client_from(s, i < 3 ? "127.0.0.2" : "127.0.0.3"));
      many.back().send("POST /echo HTTP/1.1\r\nContent-Length: 4\r\n\r\nso");
      while (s.counters().requests != static_cast<std::uint64_t>(i) + 1) std::this_thread::yield();
    }
    auto neighbour = client_from(s, "127.0.0.2");
    neighbour.connect();
    CHECK(neighbour.ended_by_peer());
    CHECK(s.counters().rejected == 1);
    CHECK(plain_client(s).get("/who").status == 200);
    CHECK(many.front().ended_by_peer());
    for (const int i : {1, 2, 3}) {
      many[static_cast<std::size_t>(i)].send("me");
      CHECK(many[static_cast<std::size_t>(i)].receive().body == "some");
    }
    CHECK(s.counters().evicted == 1);
  }

  TEST_CASE("large heads and bodies of strangers have a bound in all: one more replaces the oldest") {
    http::server_options o;
    o.most_large_buffers = 2;
    served s(test_routes(), o);
    std::vector<https_client> many;
    const std::string long_head = "GET /who HTTP/1.1\r\nX: " + std::string(10'000, 'x');
    for (int i = 0; i < 3; ++i) {
      many.push_back(plain_client(s));
      many.back().send(long_head);
      while (s.counters().bytes_in != static_cast<std::uint64_t>(i + 1) * long_head.size())
        std::this_thread::yield();
    }
    CHECK(many.front().ended_by_peer());
    CHECK(s.counters().evicted == 1);
    // The other requests go on, and each answer frees its place.
    for (const int i : {1, 2}) {
      many[static_cast<std::size_t>(i)].send("\r\n\r\n");
      CHECK(many[static_cast<std::size_t>(i)].receive().status == 200);
      CHECK(many[static_cast<std::size_t>(i)].get("/who", {{"X", std::string(10'000, 'x')}}).status == 200);
    }
    CHECK(s.counters().evicted == 1);
  }

  TEST_CASE(
      "answers that nobody reads have a bound in all: one more replaces the one that has waited longest") {
    http::server_options o;
    o.most_answer_bytes = 4u << 20;  // the least that counts for itself is a quarter
    served s(test_routes(), o);
    const std::string ask = "GET /large?pieces=8&size=131072 HTTP/1.1\r\n\r\n";
    std::vector<https_client> deaf;
    for (std::uint64_t i = 0; i < 6; ++i) {
      deaf.push_back(client_from(s, "127.0.0.2"));
      deaf.back().send(ask);
      while (s.counters().requests != i + 1) std::this_thread::yield();
    }
    CHECK(plain_client(s).get("/large?pieces=8&size=131072").body.size() == 8u * 131072);
    // Each new answer replaced the oldest, whose peer gets no more; the last three still wait.
    CHECK(s.counters().slow == 3);
    CHECK(s.counters().bytes_out < 5u * 131072 * 8);
    for (std::size_t i = 0; i < 3; ++i) CHECK_THROWS(deaf[i].receive());
    for (std::size_t i = 3; i < 6; ++i) CHECK(deaf[i].receive().body.size() == 8u * 131072);
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
