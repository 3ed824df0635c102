#include "aggregator/extender/repeats.hpp"

#include "tests/support/colliding_names.hpp"

#include <doctest/doctest.h>

#include <string>

namespace repeats_test {

using namespace binnacle;
using namespace binnacle::extender;

TEST_SUITE("aggregator/extender/repeats") {
  TEST_CASE("a name is there again only if it was there before") {
    name_list list;
    repeats seen;
    for (int i = 0; i < 3'000; ++i) list.add("worker-" + std::to_string(i % 2'000));
    for (std::size_t i = 0; i < 3'000; ++i) {
      CAPTURE(i);
      REQUIRE(seen.again(list, i) == (i >= 2'000));
    }
    CHECK_FALSE(seen.attacked());
  }

  TEST_CASE("names whose hashes a caller made collide change the hash, and none is lost or found twice") {
    const auto chosen = test::colliding_names(5'000);
    name_list list;
    repeats seen;
    for (int twice = 0; twice < 2; ++twice)
      for (const auto& name : chosen) list.add(name);
    for (std::size_t i = 0; i < 2 * chosen.size(); ++i) {
      CAPTURE(i);
      REQUIRE(seen.again(list, i) == (i >= chosen.size()));
    }
    CHECK(seen.attacked());
  }
}

}  // namespace repeats_test
