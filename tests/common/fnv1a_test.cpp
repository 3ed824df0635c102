#include "common/fnv1a.hpp"

#include <doctest/doctest.h>

namespace fnv1a_test {

using binnacle::fnv1a;

TEST_SUITE("common/fnv1a") {
  TEST_CASE("the published test vectors come out") {  // draft-eastlake-fnv, appendix C
    const auto hash = [](std::string_view text) {
      fnv1a h;
      h.add(text);
      return h.value();
    };
    CHECK(hash("") == 0xcbf29ce484222325);
    CHECK(hash("a") == 0xaf63dc4c8601ec8c);
    CHECK(hash("foobar") == 0x85944171f73967e8);
  }

  TEST_CASE("fields end") {
    fnv1a one, other;
    one.add_field("ab");
    one.add_field("c");
    other.add_field("a");
    other.add_field("bc");
    CHECK(one.value() != other.value());
  }
}

}  // namespace fnv1a_test
