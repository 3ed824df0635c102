#include "aggregator/callers/agent_tokens.hpp"

#include <doctest/doctest.h>

namespace agent_tokens_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

/// Tokens whose claims are what is in the comment beside; nobody looks at the rest.
duration left(const std::string& claims, std::chrono::seconds wall) {
  return callers::time_left("head." + claims + ".signature", std::chrono::system_clock::time_point(wall));
}
const std::string ten_minutes = "eyJleHAiOjEwNjAwLCJpYXQiOjEwMDAwfQ";  // exp 10600, iat 10000
const std::string undated = "eyJleHAiOjEwNjAwfQ";                      // exp 10600
const std::string endless =  // exp 9223372036854775807, iat -9223372036854775808
    "eyJleHAiOjkyMjMzNzIwMzY4NTQ3NzU4MDcsImlhdCI6LTkyMjMzNzIwMzY4NTQ3NzU4MDh9";

TEST_SUITE("aggregator/callers/agent_tokens") {
  TEST_CASE("a token lasts until its end, by a clock of ours that goes well") {
    CHECK(left(ten_minutes, 10'000s) == 10min);
    CHECK(left(ten_minutes, 10'500s) == 100s);
    CHECK(left(undated, 10'000s) == 10min);
    CHECK(left("e30", 10'000s) == 10min);  // {}
    CHECK(left("!", 10'000s) == 10min);
  }

  TEST_CASE("a clock that is an hour behind stretches no token, one that is ahead makes it ask again soon") {
    CHECK(left(ten_minutes, 10'000s - 3600s) == 10min);
    CHECK(left(ten_minutes, 10'000s + 3600s) == 1min);
  }

  TEST_CASE("whatever it says, it is between a minute and a day") {
    CHECK(left(endless, 10'000s) == 24h);
    CHECK(left(undated, 10'000s - 48h) == 24h);
  }
}

}  // namespace

}  // namespace agent_tokens_test
