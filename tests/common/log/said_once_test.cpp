#include "common/log/said_once.hpp"

#include <doctest/doctest.h>

namespace {

using namespace binnacle;

TEST_SUITE("common/log/said_once") {
  TEST_CASE("a trouble is news when it begins, when its text changes and when it is over") {
    said_once s;
    CHECK_FALSE(s.is_news(""));
    CHECK(s.is_news("no route"));
    CHECK_FALSE(s.is_news("no route"));
    CHECK(s.is_news("refused"));
    CHECK(s.text() == "refused");
    CHECK(s.is_news(""));
    CHECK_FALSE(s.is_news(""));
    CHECK(s.is_news("refused"));
  }

  TEST_CASE("what was declared over is news when it comes back") {
    said_once s;
    CHECK(s.is_news("no route"));
    s.clear();
    CHECK(s.text().empty());
    CHECK(s.is_news("no route"));
  }
}

}  // namespace
