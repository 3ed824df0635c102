#include "common/async/idle_connections.hpp"

#include <doctest/doctest.h>
#include <openssl/ssl.h>

namespace idle_connections_test {

using namespace std::chrono_literals;

struct connection {
  int number;
  std::shared_ptr<SSL_CTX> security;
};
using pool = binnacle::async::idle_connections<connection>;

std::shared_ptr<SSL_CTX> new_context() { return {SSL_CTX_new(TLS_method()), SSL_CTX_free}; }

std::unique_ptr<connection> made(int number, std::shared_ptr<SSL_CTX> security = nullptr) {
  return std::make_unique<connection>(connection{number, std::move(security)});
}

int taken(pool& from, const std::shared_ptr<SSL_CTX>& security, pool::instant now) {
  const auto one = from.take(security, now);
  return one == nullptr ? 0 : one->number;
}

TEST_SUITE("common/async/idle_connections") {
  TEST_CASE("the connection that was used last is taken first, and each one once") {
    pool all(8);
    const pool::instant now{};
    CHECK(all.take(nullptr, now) == nullptr);
    all.keep(made(1), now);
    all.keep(made(2), now + 1s);
    CHECK(taken(all, nullptr, now + 2s) == 2);
    CHECK(taken(all, nullptr, now + 2s) == 1);
    CHECK(taken(all, nullptr, now + 2s) == 0);
  }

  TEST_CASE("a connection that has waited too long is closed, and so is one beyond the bound") {
    pool all(2);
    const pool::instant now{};
    all.keep(made(1), now);
    CHECK_FALSE(all.full());
    all.keep(made(2), now + 10s);
    CHECK(all.full());
    all.keep(made(3), now + 10s);
    const pool::instant late = now + pool::longest + 1s;
    CHECK(taken(all, nullptr, late) == 2);
    CHECK(taken(all, nullptr, late) == 0);
    all.keep(made(4), late);
    CHECK(taken(all, nullptr, late + pool::longest) == 4);
  }

  TEST_CASE("no call goes over a connection that was made with another certificate") {
    pool all(8);
    const pool::instant now{};
    const auto old = new_context(), renewed = new_context();
    all.keep(made(1, old), now);
    all.keep(made(2, renewed), now);
    all.keep(made(3), now);
    CHECK(taken(all, renewed, now) == 2);
    CHECK(taken(all, old, now) == 0);  // closed when the renewed certificate was asked for
  }
}

}  // namespace idle_connections_test
