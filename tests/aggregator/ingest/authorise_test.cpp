#include "aggregator/ingest/authorise.hpp"

#include "aggregator/ingest/admission.hpp"

#include <doctest/doctest.h>

namespace binnacle::ingest {

using namespace std::chrono_literals;

TEST_SUITE("aggregator/ingest/authorise") {
  TEST_CASE("a session speaks for the node of its certificate, in the cluster that is served") {
    struct row {
      const char* node;
      const char* cluster;
      wire::reason why;
    };
    const row table[] = {
        {"node-1", "", wire::reason::none},
        {"NODE-1", "", wire::reason::none},
        {"edge-7", "", wire::reason::none},
        {"node-2", "", wire::reason::wrong_node},
        {"", "", wire::reason::wrong_node},
        {"*", "", wire::reason::wrong_node},
        {"node-1", "other", wire::reason::wrong_cluster},
    };
    tls::identity who;
    who.dns_names = {"node-1"};
    who.uris = {"spiffe://example.org/binnacle/node/edge-7"};
    for (const row& r : table) {
      CAPTURE(r.node);
      const auto refused = authorise({.cluster = r.cluster, .node = r.node}, who, "");
      CHECK((refused ? refused->why : wire::reason::none) == r.why);
    }
  }

  TEST_CASE("a refusal names what the certificate speaks for and what was asked") {
    tls::identity who;
    who.dns_names = {"node-1"};
    const auto refused = authorise({.node = "node-2"}, who, "");
    REQUIRE(refused.has_value());
    CHECK(refused->message.find("node-1") != std::string::npos);
    CHECK(refused->message.find("node-2") != std::string::npos);
    CHECK(authorise({.node = "node-2"}, {}, "")->message.find("no node") != std::string::npos);
  }

  TEST_CASE("node names do not tell upper from lower case") {
    CHECK(canonical_node("Rack1-N2.Example") == "rack1-n2.example");
  }
}

TEST_SUITE("aggregator/ingest/admission") {
  TEST_CASE("handshakes begin at the rate, after a short burst") {
    const instant start(1h);
    handshake_budget b(200, start);
    int taken = 0;
    for (instant now = start; now < start + 1s; now += 1ms) taken += b.take(now);
    CHECK(taken == 200);
    int burst = 0;
    while (b.take(start + 10s)) ++burst;
    CHECK(burst == 11);
    CHECK(b.next() > start + 10s);
    CHECK(b.next() <= start + 10s + 5ms);
  }

  TEST_CASE("three swaps within a minute are told once") {
    swap_watch w;
    const instant t(1h);
    CHECK_FALSE(w.swapped(t));
    CHECK_FALSE(w.swapped(t + 20s));
    CHECK(w.swapped(t + 40s));
    CHECK_FALSE(w.swapped(t + 50s));
    CHECK_FALSE(w.swapped(t + 70s));
    CHECK_FALSE(w.swapped(t + 71s));
    CHECK(w.swapped(t + 72s));
    swap_watch slow;
    for (int i = 0; i < 20; ++i) CHECK_FALSE(slow.swapped(t + i * 31s));
  }
}

}  // namespace binnacle::ingest
