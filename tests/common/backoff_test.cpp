#include "common/backoff.hpp"

#include <doctest/doctest.h>

#include <array>
#include <random>

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

TEST_SUITE("common/backoff") {
  TEST_CASE("spans are drawn from a range that doubles up to its cap") {
    std::mt19937_64 random(1);
    for (int run = 0; run < 50; ++run) {
      backoff b({100ms, 1s, 30s});
      duration ceiling = 1s;
      for (int i = 0; i < 12; ++i) {
        const duration d = b.next(random);
        CHECK(d >= 100ms);
        CHECK(d <= ceiling);
        ceiling = std::min<duration>(2 * ceiling, 30s);
      }
      b.reset();
      CHECK(b.next(random) <= 1s);
    }
  }

  TEST_CASE("a herd that was cut off at one moment comes back spread over the whole range") {
    std::array<int, 10> tenths{};
    for (std::uint64_t node = 0; node < 5'000; ++node) {
      std::mt19937_64 random(node);
      backoff b({0ms, 10s, 30s});
      ++tenths[static_cast<std::size_t>(std::min<std::int64_t>(b.next(random) / 1s, 9))];
    }
    for (const int n : tenths) CHECK(n > 400);
  }

  TEST_CASE("a peer's wish to stay away longer is kept") {
    std::mt19937_64 random(1);
    backoff b({100ms, 1s, 30s});
    const duration d = b.next(random, 60s);
    CHECK(d >= 60s + 100ms);
    CHECK(d <= 61s);
  }
}

}  // namespace
