#include "common/text.hpp"

#include <doctest/doctest.h>

using namespace binnacle;

TEST_SUITE("common/text") {
  TEST_CASE("only ASCII letters are lowered") {
    CHECK(lowered("Content-Type: A[Z]\xc3\x84") == "content-type: a[z]\xc3\x84");
    CHECK(lowered("") == "");
  }

  TEST_CASE("what is quoted is short and cannot move a cursor") {
    CHECK(quoted("a b") == "\"a b\"");
    CHECK(quoted("a\x1b[2J\n\xff") == "\"a?[2J??\"");
    CHECK(quoted(std::string(41, 'x')) == "\"" + std::string(40, 'x') + "...\"");
    CHECK(quoted("abc", 3) == "\"abc\"");
  }

  TEST_CASE("the distance of two words") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abc", "") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("ab", "ba") == 2);
  }
}
