#include "agent/sources/path/echo.hpp"
#include "agent/sources/path/peer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace path_peer_test {

namespace {

using namespace binnacle;
using namespace binnacle::agent;

TEST_SUITE("agent/sources/path/peer") {
  TEST_CASE("peers are TCP ports or hosts to ping, with a name of their own if wanted") {
    struct row {
      std::string text, name, host;
      std::uint16_t port;
      bool icmp;
    };
    const row rows[] = {
        {"node8:9110", "node8:9110", "node8", 9110, false},
        {"[fd00::8]:22", "[fd00::8]:22", "fd00::8", 22, false},
        {"icmp:10.0.0.1", "icmp:10.0.0.1", "10.0.0.1", 0, true},
        {"icmp:fd00::1", "icmp:fd00::1", "fd00::1", 0, true},
        {"gateway=icmp:10.0.0.1", "gateway", "10.0.0.1", 0, true},
        {"edge 1=host:1", "edge 1", "host", 1, false},
    };
    for (const auto& r : rows) {
      CAPTURE(r.text);
      const auto p = parse_peer(r.text);
      REQUIRE(p.has_value());
      CHECK(p->name == r.name);
      CHECK(p->at.host == r.host);
      CHECK(p->at.port == r.port);
      CHECK(p->icmp == r.icmp);
    }
    for (const auto* wrong :
         {"", "node8", "icmp:", "icmp:node8:7", "=a:1", "a:0", "a:x", "a b:1", "http://a:1", "a:1\n"}) {
      CAPTURE(wrong);
      const auto p = parse_peer(wrong);
      REQUIRE(p.has_error());
      CHECK(p.error().message.find("use HOST:PORT, icmp:HOST, or NAME=HOST:PORT") != std::string::npos);
    }
  }

  TEST_CASE("names twice and too many peers are refused") {
    CHECK(parse_peers({"a:1", "b=a:1"}).has_value());
    CHECK(parse_peers({"a:1", "a:1"}).error().message.find("two peers are named a:1") == 0);
    std::vector<std::string> many;
    for (int i = 0; i < 33; ++i) many.push_back("a:" + std::to_string(i + 1));
    CHECK(parse_peers(many).error().message.find("33 peers are named, 32 at most") == 0);
  }

  TEST_CASE("the Internet checksum is that of RFC 1071") {
    const std::array<unsigned char, 8> example{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    CHECK(internet_checksum(example) == 0x220d);  // ~0xddf2
    const std::array<unsigned char, 3> odd{0x01, 0x02, 0x03};
    CHECK(internet_checksum(odd) == 0xfbfd);  // ~(0102 + 0300)
    CHECK(internet_checksum({}) == 0xffff);
  }
}

}  // namespace

}  // namespace path_peer_test
