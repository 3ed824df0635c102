#include "common/system/descriptor_limit.hpp"

#include <doctest/doctest.h>

#include <array>
#include <numeric>

namespace descriptor_limit_test {

using namespace binnacle;

constexpr std::array<port_need, 3> ports{{{64, 4096}, {128, 4096}, {256, 20'000}}};

TEST_SUITE("common/system/descriptor_limit") {
  TEST_CASE("where there are enough, each port has all that it wants") {
    CHECK(share_descriptors(1'000'000, 200, ports) == std::vector<std::size_t>{4096, 4096, 20'000});
  }

  TEST_CASE("where there are few, each keeps its least, and all together keep the limit") {
    for (const std::size_t limit : {700u, 1'024u, 4'096u, 20'000u}) {
      CAPTURE(limit);
      const auto given = share_descriptors(limit, 200, ports);
      for (std::size_t i = 0; i < ports.size(); ++i) {
        CHECK(given[i] >= ports[i].least);
        CHECK(given[i] <= ports[i].most);
      }
      CHECK(200 + std::accumulate(given.begin(), given.end(), std::size_t{0}) <= limit);
    }
  }

  TEST_CASE("where there are none, a port has its least all the same") {
    CHECK(share_descriptors(10, 200, ports) == std::vector<std::size_t>{64, 128, 256});
  }
}

}  // namespace descriptor_limit_test
