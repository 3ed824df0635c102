// Bounds, deadlines, late answers and the end of a server.
#include "common/async/task_group.hpp"
#include "common/http/server.hpp"
#include "tests/common/http/server_routes.hpp"

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using support::https_client;
using support::plain_client;
using support::served;
using support::test_routes;

/// Keeps the replies of the requests, so that the test can answer them later, or never.
struct desk {
  class visit final : public http::exchange {
   public:
    explicit visit(desk& d) : desk_(d) {}
    bool consume(std::string_view) override { return true; }
    void finish(http::reply answer) override {
      const std::lock_guard held(desk_.guard);
      desk_.replies.push_back(std::move(answer));
    }

   private:
    desk& desk_;
  };

  http::router routes() {
    http::router r = test_routes();
    r.add_streaming(
        "POST", "/later", [this](const http::request&) { return std::make_unique<visit>(*this); }, 1000);
    return r;
  }
  std::size_t waiting() {
    const std::lock_guard held(guard);
    return replies.size();
  }
  http::reply take() {
    while (waiting() == 0) std::this_thread::yield();
    const std::lock_guard held(guard);
    http::reply out = std::move(replies.back());
    replies.pop_back();
    return out;
  }

  std::mutex guard;
  std::vector<http::reply> replies;
};

TEST_SUITE("common/http/server limits") {
  TEST_CASE("headers and bodies beyond their limits are refused with a sentence, before they are read") {
    http::server_options o;
    o.header_limit = 1000;
    served s(test_routes(), o);
    auto client = plain_client(s);
    CHECK(client.get("/who", {{"X", std::string(2000, 'x')}}).status == 431);
    CHECK(client.ended_by_peer());
    client.connect();
    CHECK(client.get("/" + std::string(2000, 'x')).status == 431);
    client.connect();
    client.send("POST /echo HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n");
    const auto announced = client.receive();
    CHECK(announced.status == 413);
    CHECK(announced.body.find("larger") != std::string::npos);
    CHECK(client.ended_by_peer());
    client.connect();
    CHECK(client.post("/echo", std::string(5u << 20, 'x')).status == 413);  // one that sends it all the same
    client.connect();
    client.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
    client.send(std::string((1u << 20) + 1, 'x'));
    CHECK(client.receive().status == 413);
    CHECK(s.counters().malformed == 5);
  }

  TEST_CASE("a face's own form of failure is that of all refusals") {
    http::router r = test_routes();
    r.set_failure([](unsigned status, std::string_view sentence) {
      return http::response::text("no: " + std::string(sentence), status);
    });
    http::server_options o;
    o.header_limit = 1000;
    served patient(r, o);
    o.header_deadline = 100ms;
    served hurried(r, o);
    const auto refused = [](const served& by, const std::string& raw, unsigned status) {
      auto client = plain_client(by);
      client.connect();
      client.send(raw);
      const auto a = client.receive();
      return a.status == status && a.body.starts_with("no: ");
    };
    CHECK(refused(hurried, "GET /who HTTP/1.1\r\n", 408));
    CHECK(refused(patient, "GET /%00 HTTP/1.1\r\n\r\n", 400));
    CHECK(refused(patient, "POST /echo HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413));
    CHECK(refused(patient, "GET /" + std::string(2000, 'x') + " HTTP/1.1\r\n\r\n", 431));
    CHECK(refused(patient, "GET /broken HTTP/1.1\r\n\r\n", 500));
  }

  TEST_CASE("an endless chunk header is refused") {
    served s(test_routes());
    auto client = plain_client(s);
    client.send("POST /count HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=" + std::string(70'000, 'x'));
    CHECK(client.receive().status == 400);
  }

  TEST_CASE("a peer that sends head or body too slowly is told so; a silent peer is dropped") {
    http::server_options o;
    o.header_deadline = 100ms;
    o.body_deadline = 150ms;
    o.idle_deadline = 50ms;
    served s(test_routes(), o);
    auto head = plain_client(s);
    auto body = plain_client(s);
    auto idle = plain_client(s);
    head.send("GET /who HT");
    body.send("POST /echo HTTP/1.1\r\nContent-Length: 100\r\n\r\nsome");
    idle.connect();
    CHECK(idle.ended_by_peer());
    CHECK(head.receive().status == 408);
    CHECK(head.ended_by_peer());
    CHECK(body.receive().status == 408);
    CHECK(s.counters().timeouts == 2);
    // Bytes that come one at a time do not extend the deadline.
    auto drip = plain_client(s);
    drip.connect();
    const auto start = std::chrono::steady_clock::now();
    for (const char c : std::string("GET /who HTTP/1.1\r\nHost: x\r\n")) {
      drip.send({&c, 1});
      std::this_thread::sleep_for(10ms);
      if (std::chrono::steady_clock::now() - start > 150ms) break;
    }
    CHECK(drip.receive().status == 408);
  }

  TEST_CASE("who does not take an answer is let go") {
    http::server_options o;
    o.write_deadline = 100ms;
    served s(test_routes(), o);
    auto deaf = plain_client(s);
    deaf.send("GET /large?pieces=1&size=100000000 HTTP/1.1\r\n\r\n");
    while (s.counters().timeouts == 0) std::this_thread::yield();
    CHECK(s.counters().timeouts == 1);
  }

  TEST_CASE("an answer may come later, and others are served meanwhile") {
    desk d;
    served s(d.routes());
    auto waiting = plain_client(s);
    waiting.send("POST /later HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi");
    auto answer = d.take();
    CHECK(plain_client(s).get("/who").status == 200);
    s.on_loop([&] { answer(http::response::text("at last")); });
    CHECK(waiting.receive().body == "at last");
    s.on_loop([&] { answer(http::response::text("once more")); });  // ignored
    CHECK(waiting.get("/who").body == "nobody");
  }

  TEST_CASE("an answer that is dropped, or too late, becomes a 500 or 503") {
    http::server_options o;
    o.handler_deadline = 50ms;
    desk d;
    served s(d.routes(), o);
    auto client = plain_client(s);
    client.send("POST /later HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    s.on_loop([reply = d.take()]() mutable { reply = nullptr; });
    const auto dropped = client.receive();
    CHECK((dropped.status == 500 || dropped.status == 503));
    client.send("POST /later HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    auto late = d.take();
    CHECK(client.receive().status == 503);
    s.on_loop([&] { late(http::response::text("too late")); });
    CHECK(client.get("/who").body == "nobody");
  }

  TEST_CASE("an answer does no harm after its peer, or its server, has gone") {
    desk d;
    http::reply kept;
    {
      served s(d.routes());
      {
        auto client = plain_client(s);
        client.send("POST /later HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        kept = d.take();
      }
      s.on_loop([&] { kept(http::response::text("anybody?")); });
      auto client = plain_client(s);
      client.send("POST /later HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
      kept = d.take();
    }
    kept(http::response::text("anybody?"));
  }

  TEST_CASE("stop closes idle connections, lets running requests end, and then says so") {
    desk d;
    served s(d.routes());
    auto idle = plain_client(s);
    CHECK(idle.get("/who").status == 200);
    auto busy = plain_client(s);
    busy.send("POST /later HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    auto answer = d.take();
    std::atomic<bool> stopped{false};
    s.on_loop([&] { s.server().stop(5s, [&] { stopped = true; }); });
    CHECK(idle.ended_by_peer());
    CHECK_THROWS(plain_client(s).connect());
    CHECK_FALSE(stopped);
    s.on_loop([&] { answer(http::response::text("the last")); });
    const auto last = busy.receive();
    CHECK(last.body == "the last");
    CHECK(last.headers.at("connection") == "close");
    busy.disconnect();
    while (!stopped) std::this_thread::yield();
    CHECK(s.counters().open == 0);
  }

  TEST_CASE("what does not end within the grace is cut") {
    desk d;
    served s(d.routes());
    auto busy = plain_client(s);
    busy.send("POST /later HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    const auto answer = d.take();
    std::atomic<bool> stopped{false};
    s.on_loop([&] { s.server().stop(20ms, [&] { stopped = true; }); });
    while (!stopped) std::this_thread::yield();
    CHECK(busy.ended_by_peer());
    CHECK(s.counters().open == 0);
  }

  TEST_CASE("a long body does not keep others waiting") {
    served s(test_routes());
    std::atomic<bool> sent{false};
    std::thread uploader([&] {
      auto client = plain_client(s);
      CHECK(client.post("/count", std::string(90u << 20, 'x')).body == std::to_string(90u << 20));
      sent = true;
    });
    auto other = plain_client(s);
    int served_meanwhile = 0;
    while (!sent) {
      REQUIRE(other.get("/who").status == 200);
      if (!sent) ++served_meanwhile;
    }
    uploader.join();
    // This checks only that requests take turns. Times are measured in tests/bench.
    CHECK(served_meanwhile > 0);
  }
}

}  // namespace
