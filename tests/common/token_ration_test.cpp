#include "common/token_ration.hpp"

#include "tests/support/numbered_network.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace token_ration_test {

using namespace binnacle;
using support::numbered;
using namespace std::chrono_literals;

TEST_SUITE("common/token_ration") {
  TEST_CASE("an address with bad tokens soon gets no more questions asked; other addresses go on") {
    token_ration ration;
    const instant now = instant() + 1h;
    for (int i = 0; i < token_ration::most; ++i) CHECK(ration.take(numbered(1), now));
    CHECK_FALSE(ration.take(numbered(1), now));
    CHECK(ration.take(numbered(2), now));
    CHECK(ration.take(numbered(1), now + token_ration::each));
    CHECK_FALSE(ration.take(numbered(1), now + token_ration::each));
  }

  TEST_CASE("good tokens cost nothing, however many come from one address") {
    token_ration ration;
    const instant now = instant() + 1h;
    for (int i = 0; i < 5'000; ++i) {
      REQUIRE(ration.take(numbered(1), now));
      ration.give_back(numbered(1));
    }
  }

  TEST_CASE("the addresses that owe are bounded, and those that owe nothing more are forgotten") {
    token_ration ration;
    const instant now = instant() + 1h;
    const auto address = [](std::size_t i) {
      network out;
      out.bytes[0] = static_cast<std::uint8_t>(i);
      out.bytes[1] = static_cast<std::uint8_t>(i >> 8);
      return out;
    };
    for (std::size_t i = 0; i < token_ration::most_addresses; ++i) REQUIRE(ration.take(address(i), now));
    CHECK_FALSE(ration.take(address(token_ration::most_addresses), now));
    CHECK(ration.take(address(0), now));
    CHECK(ration.take(address(token_ration::most_addresses), now + 1min));
  }
}

}  // namespace token_ration_test
