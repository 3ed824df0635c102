#include "common/async/network.hpp"

#include <boost/asio/ip/address.hpp>
#include <doctest/doctest.h>

namespace network_test {

using namespace binnacle;

network of(const char* address, unsigned v4_bits = 24, unsigned v6_bits = 48) {
  return async::network_of(boost::asio::ip::make_address(address), v4_bits, v6_bits);
}

TEST_SUITE("common/async/network") {
  TEST_CASE("addresses that differ only in the bits cut off are one network") {
    CHECK(of("10.1.2.3") == of("10.1.2.200"));
    CHECK(of("10.1.2.3") != of("10.1.3.3"));
    CHECK(of("10.1.2.3", 32) != of("10.1.2.4", 32));
    CHECK(of("10.1.2.0", 25) != of("10.1.2.128", 25));
    CHECK(of("fd00:1:2:3::1") == of("fd00:1:2:ffff::9"));
    CHECK(of("fd00:1:2::1") != of("fd00:1:3::1"));
    CHECK(of("fd00::1", 32, 64) == of("fd00::ffff", 32, 64));
  }

  TEST_CASE("an IPv4 address is the same through an IPv6 socket") {
    CHECK(of("::ffff:10.1.2.3") == of("10.1.2.3"));
    CHECK(of("::ffff:10.1.2.3") == of("::ffff:10.1.2.4"));
    CHECK(of("::ffff:10.1.2.3") != of("::ffff:10.2.2.3"));
  }
}

}  // namespace network_test
