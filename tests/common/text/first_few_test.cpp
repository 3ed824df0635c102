#include "common/text/first_few.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace binnacle::first_few_test {

TEST_SUITE("common/text/first_few") {
  TEST_CASE("of many words the first few are named, and how many more there are") {
    const std::vector<std::string> words = {"a", "b", "c"};
    CHECK(first_few({}, 2) == "");
    CHECK(first_few(words, 3) == "a, b, c");
    CHECK(first_few(words, 2) == "a, b and 1 more");
    CHECK(first_few(words, 2, 7) == "a, b and 5 more");
    CHECK(first_few(words, 5, 7) == "a, b, c and 4 more");
  }
}

}  // namespace binnacle::first_few_test
