#include "common/text/wrapped.hpp"

#include <doctest/doctest.h>

namespace {

using binnacle::wrapped;

TEST_SUITE("common/text/wrapped") {
  TEST_CASE("text is broken at blanks, and stands behind its indent") {
    CHECK(wrapped("one two three", 4, 12) == "one two\n    three");
    CHECK(wrapped("short", 4, 12) == "short");
    CHECK(wrapped("", 4, 12).empty());
  }
  TEST_CASE("a word that does not fit at all is left whole") {
    CHECK(wrapped("a https://a.very.long.example b", 2, 10) == "a\n  https://a.very.long.example\n  b");
  }
}

}  // namespace
