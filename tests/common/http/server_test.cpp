#include "common/http/server.hpp"

#include "common/async/task_group.hpp"
#include "tests/support/https_client.hpp"
#include "tests/support/pki.hpp"
#include "tests/support/served.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <utility>

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using support::https_client;
using support::served;

/// Counts the bytes of a body without keeping them.
class counting final : public http::exchange {
 public:
  bool consume(std::string_view piece) override {
    CHECK(piece.size() <= (64u << 10));
    bytes_ += piece.size();
    return bytes_ <= 2'000'000'000;
  }
  void finish(http::reply answer) override { answer(http::response::text(std::to_string(bytes_))); }

 private:
  std::size_t bytes_ = 0;
};

http::router routes() {
  http::router r;
  r.add("POST", "/echo",
        [](const http::request&, std::string_view body) { return http::response::text(std::string(body)); });
  r.add("GET", "/who", [](const http::request& q, std::string_view) {
    return http::response::text(q.peer ? q.peer->common_name : "nobody");
  });
  r.add("GET", "/broken",
        [](const http::request&, std::string_view) -> http::response { throw std::runtime_error("broken"); });
  r.add("GET", "/large", [](const http::request& q, std::string_view) {
    http::response out = http::response::text({});
    out.body.assign(std::stoul(*q.parameter("pieces")), std::string(std::stoul(*q.parameter("size")), 'x'));
    return out;
  });
  r.add_streaming(
      "POST", "/count", [](const http::request&) { return std::make_unique<counting>(); }, 1u << 30);
  return r;
}

https_client plain_client(const served& s) {
  https_client::options o;
  o.port = s.port();
  return https_client(o);
}

TEST_SUITE("common/http/server") {
  TEST_CASE("a connection serves request after request") {
    served s(routes());
    auto client = plain_client(s);
    for (int i = 0; i < 3; ++i) {
      const auto a = client.post("/echo", "hello " + std::to_string(i));
      CHECK(a.status == 200);
      CHECK(a.body == "hello " + std::to_string(i));
      CHECK(a.headers.at("x-content-type-options") == "nosniff");
      CHECK(a.headers.at("content-type") == "text/plain; charset=utf-8");
    }
    CHECK(client.connections() == 1);
    CHECK(s.counters().requests == 3);
    CHECK(s.counters().open == 1);
  }

  TEST_CASE(
      "what nobody knows is 404 with the known paths, a wrong method 405 with Allow, and the connection goes "
      "on") {
    served s(routes());
    auto client = plain_client(s);
    const auto unknown = client.get("/nowhere");
    CHECK(unknown.status == 404);
    CHECK(unknown.body.find("POST /echo") != std::string::npos);
    const auto wrong = client.get("/echo");
    CHECK(wrong.status == 405);
    CHECK(wrong.headers.at("allow") == "POST");
    CHECK(client.get("/broken").status == 500);
    CHECK(client.get("/who").body == "nobody");
    CHECK(client.connections() == 1);
  }
}

}  // namespace
