#include "aggregator/kube/client/token.hpp"

#include <doctest/doctest.h>

namespace kube_token_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

TEST_SUITE("aggregator/kube/client/token") {
  const instant start(1h);

  TEST_CASE("a token is asked for at first, when its time is over, and when the server refused it") {
    kube::token_cache t;
    CHECK(t.is_due(start));
    REQUIRE(t.took(" abc.def\n", start + 60s).has_value());
    CHECK(t.value() == "abc.def");
    CHECK_FALSE(t.is_due(start + 59s));
    CHECK(t.is_due(start + 60s));
    REQUIRE(t.took("second", start + 120s).has_value());
    CHECK_FALSE(t.is_due(start + 61s));
    t.refused();
    CHECK(t.is_due(start + 61s));
    CHECK(t.value() == "second");
  }

  TEST_CASE("a file without a token leaves the last token in use, and is read again soon") {
    for (const char* text : {"", " \n", "two words", "a\r\nX-Remote-User: admin", "\x01"}) {
      CAPTURE(text);
      kube::token_cache t;
      REQUIRE(t.took("good", start + 60s).has_value());
      CHECK(t.took(text, start + 120s).has_error());
      t.failed(start + 60s);
      CHECK(t.value() == "good");
      CHECK_FALSE(t.is_due(start + 64s));
      CHECK(t.is_due(start + 65s));
    }
  }
}

}  // namespace

}  // namespace kube_token_test
