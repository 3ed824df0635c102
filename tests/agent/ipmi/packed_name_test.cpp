#include "agent/ipmi/packed_name.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace packed_name_test {

using binnacle::ipmi::unpacked_name;

TEST_SUITE("agent/ipmi/packed_name") {
  TEST_CASE("a name in packed 6-bit ASCII is read, whatever its length") {
    CHECK(unpacked_name(std::array<std::uint8_t, 3>{0x29, 0xdc, 0xa6}) == "IPMI");  // the specification's
    // As OpenIPMI's sdrcomp writes it.
    CHECK(unpacked_name(std::array<std::uint8_t, 7>{0xf0, 0x5c, 0x4b, 0x3f, 0xfc, 0xd6, 0x34}) ==
          "PSU2_POUT");
    CHECK(unpacked_name({}).empty());
    CHECK(unpacked_name(std::array<std::uint8_t, 1>{0x21}) == "A");
    CHECK(unpacked_name(std::vector<std::uint8_t>(3, 0)).empty());
    CHECK(unpacked_name(std::array<std::uint8_t, 3>{0xff, 0xff, 0xff}) == "____");
  }
}

}  // namespace packed_name_test
