#include "common/tls/identity.hpp"

#include <doctest/doctest.h>

namespace identity_test {

using binnacle::tls::identity;

TEST_SUITE("common/tls/identity") {
  TEST_CASE("a DNS name speaks for the node of that name, in any case of letters, and for no other") {
    identity who;
    who.common_name = "other";
    who.dns_names = {"Node-1.example"};
    CHECK(who.speaks_for("node-1.example", ""));
    CHECK(who.speaks_for("NODE-1.EXAMPLE", ""));
    for (const char* no : {"", "node-1", "node-1.example.", "xnode-1.example", "node-1.exampl", "other"}) {
      CAPTURE(no);
      CHECK_FALSE(who.speaks_for(no, ""));
    }
  }

  TEST_CASE("a wildcard speaks for nobody") {
    identity who;
    who.dns_names = {"*.example", "*"};
    who.uris = {"spiffe://trust/*"};
    CHECK_FALSE(who.speaks_for("n1.example", ""));
    CHECK_FALSE(who.speaks_for("*.example", ""));
    CHECK_FALSE(who.speaks_for("*", ""));
    CHECK_FALSE(who.speaks_for("*", "spiffe://trust/"));
  }

  TEST_CASE("a name with a NUL inside is not the part before it") {
    identity who;
    who.dns_names = {std::string("n1\0.evil", 8)};
    CHECK_FALSE(who.speaks_for("n1", ""));
  }

  TEST_CASE("a URI speaks for the node that it names after the whole prefix, and for none without a prefix") {
    struct row {
      const char* uri;
      bool speaks;
    };
    const std::string_view prefix = "spiffe://trust.domain/binnacle/node/";
    for (const row r :
         {row{"spiffe://trust.domain/binnacle/node/n1", true},
          row{"spiffe://other.domain/binnacle/node/n1", false}, row{"spiffe://trust.domain/n1", false},
          row{"spiffe://trust.domain/other/node/n1", false},
          row{"spiffe://trust.domain/binnacle/node/n1/", false},
          row{"spiffe://trust.domain/binnacle/node/x/n1", false},
          row{"spiffe://trust.domain/binnacle/node/xn1", false},
          row{"spiffe://trust.domain/binnacle/node/N1", false},
          row{"SPIFFE://trust.domain/binnacle/node/n1", false},
          row{"spiffe://trust.domain/binnacle/node/n1?", false},
          row{"spiffe://trust.domain/binnacle/node/%6e1", false},
          row{"spiffe://trust.domain/binnacle/node/", false}, row{"n1", false}, row{"", false}}) {
      CAPTURE(r.uri);
      identity who;
      who.uris = {r.uri};
      CHECK(who.speaks_for("n1", prefix) == r.speaks);
      CHECK_FALSE(who.speaks_for("n1", ""));
    }
  }

  TEST_CASE("a node whose name has a slash is not one that a URI could name") {
    identity who;
    who.uris = {"spiffe://td/node/pod/n1"};
    CHECK_FALSE(who.speaks_for("pod/n1", "spiffe://td/node/"));
  }
}

}  // namespace identity_test
