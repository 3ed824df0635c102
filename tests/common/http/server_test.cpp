#include "common/http/server.hpp"

#include "common/async/task.hpp"
#include "tests/common/http/server_routes.hpp"

namespace {

using namespace binnacle;
using support::plain_client;
using support::served;
using support::test_routes;

TEST_SUITE("common/http/server") {
  TEST_CASE("a connection serves request after request") {
    served s(test_routes());
    auto client = plain_client(s);
    for (int i = 0; i < 3; ++i) {
      const auto a = client.post("/echo", "hello " + std::to_string(i));
      CHECK(a.status == 200);
      CHECK(a.body == "hello " + std::to_string(i));
      CHECK(a.headers.at("x-content-type-options") == "nosniff");
      CHECK(a.headers.at("content-type") == "text/plain; charset=utf-8");
    }
    CHECK(client.connections() == 1);
    const auto seen = s.counters();
    CHECK(seen.requests == 3);
    CHECK(seen.open == 1);
    CHECK(seen.accepted == 1);
    CHECK(seen.bytes_in > 3 * 7);
    CHECK(seen.bytes_out > 3 * 7);
  }

  TEST_CASE("unknown paths, wrong methods and failing handlers are answered, and the connection goes on") {
    served s(test_routes());
    auto client = plain_client(s);
    const auto unknown = client.get("/nowhere");
    CHECK(unknown.status == 404);
    CHECK(unknown.body.find("POST /echo") != std::string::npos);
    const auto wrong = client.get("/echo");
    CHECK(wrong.status == 405);
    CHECK(wrong.headers.at("allow") == "POST");
    CHECK(client.get("/broken").status == 500);
    CHECK(client.post("/unmade", "").status == 500);
    CHECK(client.get("/who").body == "nobody");
    CHECK(client.connections() == 1);
    CHECK(client.get("/%zz").status == 400);
  }

  TEST_CASE("HEAD is answered like GET without the body") {
    served s(test_routes());
    auto client = plain_client(s);
    const auto a = client.request("HEAD", "/large?pieces=2&size=50000");
    CHECK(a.status == 200);
    CHECK(a.headers.at("content-length") == "100000");
    CHECK(client.get("/who").body == "nobody");
    CHECK(client.connections() == 1);
  }

  TEST_CASE("a request may come in pieces of any size, and the next one behind it") {
    served s(test_routes());
    auto client = plain_client(s);
    const std::string one = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    const std::string two =
        "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwor\r\n2\r\nld\r\n0\r\n\r\n";
    const std::string both = one + two;
    for (std::size_t cut = 0; cut <= both.size(); ++cut) {
      CAPTURE(cut);
      client.send(std::string_view(both).substr(0, cut));
      client.send(std::string_view(both).substr(cut));
      CHECK(client.receive().body == "hello");
      CHECK(client.receive().body == "world");
    }
    for (const char c : both) client.send({&c, 1});
    CHECK(client.receive().body == "hello");
    CHECK(client.receive().body == "world");
    CHECK(client.connections() == 1);
    CHECK(s.counters().malformed == 0);
  }

  TEST_CASE("pipelined requests are answered in their order") {
    served s(test_routes());
    auto client = plain_client(s);
    std::string many;
    for (int i = 0; i < 5000; ++i) {
      const std::string body = "number " + std::to_string(i);
      many += "POST /echo HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    client.send(many);
    for (int i = 0; i < 5000; ++i) REQUIRE(client.receive().body == "number " + std::to_string(i));
  }

  TEST_CASE("large bodies and answers arrive whole") {
    served s(test_routes());
    auto client = plain_client(s);
    std::string body(1u << 20, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
    CHECK(client.post("/echo", body).body == body);
    CHECK(client.get("/large?pieces=1&size=20000000").body.size() == 20'000'000);
    CHECK(client.get("/large?pieces=30000&size=33").body == std::string(990'000, 'x'));
    CHECK(client.get("/large?pieces=0&size=0").body.empty());
    CHECK(client.post("/count", std::string(60u << 20, 'x')).body == std::to_string(60u << 20));
  }

  TEST_CASE("a client that waits for 100 gets it, unless the answer is no") {
    served s(test_routes());
    auto client = plain_client(s);
    client.send("POST /echo HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    CHECK(client.receive().status == 100);
    client.send("hello");
    CHECK(client.receive().body == "hello");
    client.send("POST /echo HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello");
    CHECK(client.receive().body == "hello");  // the body was there already
    client.send("POST /nowhere HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    CHECK(client.receive().status == 404);
    CHECK(client.ended_by_peer());
  }

  TEST_CASE("the connection ends when either side says so") {
    served s(test_routes());
    auto client = plain_client(s);
    CHECK(client.get("/who", {{"Connection", "close"}}).headers.at("connection") == "close");
    CHECK(client.ended_by_peer());
    client.connect();
    client.send("GET /who HTTP/1.0\r\n\r\n");
    CHECK(client.receive().headers.at("connection") == "close");
    CHECK(client.ended_by_peer());
    client.connect();
    client.send("GET /who HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(client.receive().headers.at("connection") == "keep-alive");
    CHECK(client.get("/who").status == 200);
  }

  TEST_CASE("a server that retires serves on and asks every client to go elsewhere") {
    served s(test_routes());
    auto client = plain_client(s);
    CHECK(client.get("/who").headers.count("connection") == 0);
    s.on_loop([&] { s.server().retire(); });
    CHECK(client.get("/who").headers.at("connection") == "close");
    CHECK(client.ended_by_peer());
    client.connect();
    CHECK(client.get("/who").status == 200);
    CHECK(client.ended_by_peer());
  }

  TEST_CASE("a handler that has seen enough, or fails within a body, answers at once and closes") {
    std::atomic<int> alive{0};
    served s(test_routes(&alive));
    auto client = plain_client(s);
    client.send("POST /count HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nenough");
    const auto early = client.receive();
    CHECK(early.status == 200);
    CHECK(early.body == "6");
    CHECK(client.ended_by_peer());
    client.connect();
    client.send("POST /count HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nthrow");
    CHECK(client.receive().status == 500);
    CHECK(client.ended_by_peer());
    CHECK(alive == 0);
  }

  TEST_CASE("a client that goes away within its body costs nothing") {
    std::atomic<int> alive{0};
    served s(test_routes(&alive));
    for (int i = 0; i < 20; ++i) {
      auto client = plain_client(s);
      client.send("POST /count HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nsome of it");
      while (alive == 0) s.on_loop([] {});
      client.disconnect();
      while (alive != 0 || s.counters().open != 0) s.on_loop([] {});
    }
    CHECK(s.counters().accepted == 20);
  }

  TEST_CASE("a server is told when its port is taken") {
    served s(test_routes());
    async::loop loop;
    http::server_options o;
    o.name = "second";
    o.address = "127.0.0.1";
    o.port = s.port();
    http::server second(loop, o, test_routes(), logger("test", log_level::off));
    const auto started = second.start();
    REQUIRE(started.has_error());
    CHECK(started.error().message.find("second: port ") == 0);
    CHECK(started.error().message.find("in use") != std::string::npos);
  }
}

}  // namespace
