#pragma once

#include "common/http/router.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/served.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

/// The routes of these tests' servers.
namespace binnacle::support {

/// Counts the bytes of a body without keeping them, and how many objects of this class exist.
class counting final : public http::exchange {
 public:
  explicit counting(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  counting(const counting&) = delete;
  counting& operator=(const counting&) = delete;
  ~counting() override { --alive_; }

  bool consume(std::string_view piece) override {
    if (piece.size() > (64u << 10)) throw std::logic_error("a piece was larger than 64 KiB");
    if (piece.starts_with("throw")) throw std::runtime_error("as the test wants");
    bytes_ += piece.size();
    return !piece.starts_with("enough");
  }
  void finish(http::reply answer) override { answer(http::response::text(std::to_string(bytes_))); }

 private:
  std::atomic<int>& alive_;
  std::size_t bytes_ = 0;
};

inline http::router test_routes(std::atomic<int>* alive = nullptr) {
  static std::atomic<int> nobody_looks{0};
  if (alive == nullptr) alive = &nobody_looks;
  http::router r;
  r.add(
      "POST", "/echo",
      [](const http::request&, std::string_view body) { return http::response::text(std::string(body)); },
      1u << 20);
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
      "POST", "/count", [alive](const http::request&) { return std::make_unique<counting>(*alive); },
      100u << 20);
  r.add_streaming(
      "POST", "/unmade",
      [](const http::request&) -> std::unique_ptr<http::exchange> {
        throw std::runtime_error("as the test wants");
      },
      100);
  return r;
}

inline https_client plain_client(const served& s) {
  https_client::options o;
  o.port = s.port();
  return https_client(o);
}

}  // namespace binnacle::support
