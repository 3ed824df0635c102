#include "common/text/endpoint.hpp"

#include <doctest/doctest.h>

namespace endpoint_test {

using namespace binnacle;

TEST_SUITE("common/text/endpoint") {
  TEST_CASE("an address has a host and perhaps a port") {
    struct row {
      const char* text;
      const char* host;
      int port;
    };
    for (const row& r : {row{"node7:1234", "node7", 1234}, row{"node7", "node7", 9110},
                         row{"[fd00::5]:77", "fd00::5", 77}, row{"fd00::5", "fd00::5", 9110}}) {
      CAPTURE(r.text);
      const auto at = read_endpoint(r.text, 9110);
      REQUIRE(at.has_value());
      CHECK(at->host == r.host);
      CHECK(at->port == r.port);
    }
    for (const char* bad :
         {"", ":9110", "a:", "a:0", "a:70000", "[::1", "[::1]x", "a b", "u@a", "a/b", "[]:1"}) {
      CAPTURE(bad);
      CHECK_FALSE(read_endpoint(bad, 9110).has_value());
    }
  }

  TEST_CASE("an address to listen on may leave out the host, and take any port") {
    CHECK(read_listen_address(":9103")->host.empty());
    CHECK(read_listen_address(":0")->port == 0);
    CHECK(read_listen_address("[::1]:80")->host == "::1");
    for (const char* bad : {"", ":", "9103", ":x", ":65536", "::1:9103", "a:", "[]:80", "localhost"}) {
      CAPTURE(bad);
      CHECK_FALSE(read_listen_address(bad).has_value());
    }
  }

  TEST_CASE("a URL is cut where its parts end") {
    struct row {
      const char *url, *scheme, *authority, *rest;
    };
    for (const row& r : {row{"https://[::1]:10250/metrics?a=b", "https", "[::1]:10250", "/metrics?a=b"},
                         row{"http://a", "http", "a", ""}, row{"a:9102/", "", "a:9102", "/"},
                         row{"ftp://u:p@a?x://y", "ftp", "u:p@a", "?x://y"}, row{"", "", "", ""},
                         row{"HTTPs://Node7/Metrics", "https", "Node7", "/Metrics"}}) {
      CAPTURE(r.url);
      const auto [scheme, authority, rest] = split_url(r.url);
      CHECK(scheme == r.scheme);
      CHECK(authority == r.authority);
      CHECK(rest == r.rest);
    }
  }
}

}  // namespace endpoint_test
