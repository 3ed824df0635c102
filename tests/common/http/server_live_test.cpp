// Live answers: the server asks their exchange for pieces as fast as the peer takes them.
#include "common/async/task.hpp"
#include "common/async/timers.hpp"
#include "common/http/client/client.hpp"
#include "common/http/live.hpp"
#include "tests/common/http/server_routes.hpp"
#include "tests/support/net/run.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace server_live_test {

using namespace binnacle;
using namespace std::chrono_literals;
using support::served;

/// What the live answers of a test send, and what became of them. The server's thread writes the outcome.
struct script {
  std::function<std::string(int call)> next;
  std::atomic<int> calls{0}, alive{0};
  std::atomic<bool> refuses{false};
  std::function<void()> wake;

  class speaker final : public http::live_exchange {
   public:
    explicit speaker(script& s) : script_(s) { ++script_.alive; }
    speaker(const speaker&) = delete;
    speaker& operator=(const speaker&) = delete;
    ~speaker() override {
      script_.wake = nullptr;
      --script_.alive;
    }
    void finish(http::reply answer) override {
      if (script_.refuses) return answer(http::response::failure(429, "too many"));
      answer({200, "text/event-stream", {}, {}, true});
    }
    void wake_with(std::function<void()> wake) override { script_.wake = std::move(wake); }
    std::string next() override { return script_.next(script_.calls++); }

   private:
    script& script_;
  };

  http::router routes() {
    http::router r = support::test_routes();
    r.add_streaming(
        "GET", "/live", [this](const http::request&) { return std::make_unique<speaker>(*this); }, 0);
    return r;
  }
};

void wait_until(const std::function<bool()>& so) {
  for (const auto end = std::chrono::steady_clock::now() + 60s; !so();) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(1ms);
  }
}

TEST_SUITE("common/http/server live") {
  TEST_CASE("a live answer says what there is when it is woken, and ends when its peer has gone") {
    script s;
    std::string waiting = "first\n";
    s.next = [&](int) { return std::exchange(waiting, {}); };
    served server(s.routes());
    support::run([&](async::loop&) -> async::task<void> {
      http::server_address to{"127.0.0.1", server.port(), {}};
      http::client peer(to, nullptr, "test");
      http::call what;
      what.target = "/live";
      auto stream = co_await peer.open(std::move(what), async::within(60s));
      REQUIRE(stream.has_value());
      CHECK(stream->head().status == 200);
      CHECK(*stream->head().header("content-type") == "text/event-stream");
      CHECK(stream->head().header("content-length") == nullptr);
      auto piece = co_await stream->next(async::within(60s));
      CHECK(piece.value() == "first\n");
      server.on_loop([&] {
        waiting = "second\n";
        s.wake();
      });
      piece = co_await stream->next(async::within(60s));
      CHECK(piece.value() == "second\n");
    });
    // The peer is gone. The server notices that when it writes.
    wait_until([&] {
      server.on_loop([&] {
        waiting = "to nobody\n";
        if (s.wake) s.wake();
      });
      return s.alive == 0;
    });
    CHECK(server.counters().open == 0);
  }

  TEST_CASE("a peer that takes nothing is never queued for, and is cut at the write's deadline") {
    script s;
    s.next = [](int) { return std::string(1u << 20, 'x'); };  // this answer never runs out of data
    http::server_options o;
    o.write_deadline = 300ms;
    served server(s.routes(), o);
    auto peer = support::plain_client(server);
    peer.connect();
    peer.send("GET /live HTTP/1.1\r\n\r\n");
    wait_until([&] { return s.calls > 0 && s.alive == 0; });
    // The pieces that the server asked for are in the kernel's buffers: a few MiB, although the answer has no
    // end.
    CHECK(s.calls < 64);
    CHECK(server.counters().timeouts == 1);
  }

  TEST_CASE("a large piece reaches a peer that reads steadily for longer than the write's deadline") {
    constexpr std::size_t size = 16u << 20;  // more than the kernel takes in advance
    script s;
    s.next = [](int call) { return call == 0 ? std::string(size, 'x') : std::string(); };
    http::server_options o;
    o.write_deadline = 2s;
    served server(s.routes(), o);
    support::run(
        [&](async::loop&) -> async::task<void> {
          http::server_address to{"127.0.0.1", server.port(), {}};
          http::client peer(to, nullptr, "test");
          http::call what;
          what.target = "/live";
          what.most_bytes = 2 * size;
          auto stream = co_await peer.open(std::move(what), async::within(60s));
          REQUIRE(stream.has_value());
          std::size_t got = 0, pauses = 0;
          while (got < size) {
            const auto piece = co_await stream->next(async::within(60s));
            REQUIRE(piece.has_value());
            REQUIRE(!piece->empty());
            got += piece->size();
            // 256 pauses in all.
            for (; pauses < got >> 16; ++pauses) co_await async::sleep_for(25ms);
          }
          CHECK(got == size);
        },
        120s);
    CHECK(server.counters().timeouts == 0);
  }

  TEST_CASE("a live exchange that refuses is answered as any other, and the connection goes on") {
    script s;
    s.next = [](int) { return std::string(); };
    s.refuses = true;
    served server(s.routes());
    auto peer = support::plain_client(server);
    CHECK(peer.get("/live").status == 429);
    CHECK(peer.get("/who").status == 200);
    CHECK(peer.connections() == 1);
    CHECK(s.calls == 0);
  }

  TEST_CASE("HEAD of a live answer has no body and does not go on") {
    script s;
    s.next = [](int) { return std::string("more\n"); };
    served server(s.routes());
    auto peer = support::plain_client(server);
    CHECK(peer.request("HEAD", "/live").status == 200);
    wait_until([&] { return s.alive == 0; });
    CHECK(s.calls == 0);
  }
}

}  // namespace server_live_test
