#include "aggregator/ingest/authorise.hpp"

#include "aggregator/ingest/admission.hpp"
#include "common/async/network.hpp"

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
        {"node-1", "", wire::reason::none},       {"NODE-1", "", wire::reason::none},
        {"edge-7", "", wire::reason::none},       {"edge-8", "", wire::reason::wrong_node},
        {"node-2", "", wire::reason::wrong_node}, {"", "", wire::reason::wrong_node},
        {"*", "", wire::reason::wrong_node},      {"node-1", "other", wire::reason::wrong_cluster},
    };
    tls::identity who;
    who.dns_names = {"node-1"};
    who.uris = {"spiffe://example.org/binnacle/node/edge-7", "spiffe://elsewhere.org/binnacle/node/edge-8"};
    for (const row& r : table) {
      CAPTURE(r.node);
      const auto refused =
          authorise({.cluster = r.cluster, .node = r.node}, who, "", "spiffe://example.org/binnacle/node/");
      CHECK((refused ? refused->why : wire::reason::none) == r.why);
    }
  }

  TEST_CASE("a refusal names what the certificate speaks for and what was asked") {
    tls::identity who;
    who.dns_names = {"node-1"};
    const auto refused = authorise({.node = "node-2"}, who, "", "");
    REQUIRE(refused.has_value());
    CHECK(refused->message.find("node-1") != std::string::npos);
    CHECK(refused->message.find("node-2") != std::string::npos);
    CHECK(authorise({.node = "node-2"}, tls::identity(), "", "")->message.find("no node") !=
          std::string::npos);
  }

  TEST_CASE("URIs count for nothing unless their prefix is set, and the refusal says so") {
    tls::identity who;
    who.uris = {"spiffe://example.org/binnacle/node/edge-7"};
    const auto refused = authorise({.node = "edge-7"}, who, "", "");
    REQUIRE(refused.has_value());
    CHECK(refused->why == wire::reason::wrong_node);
    CHECK(refused->message.find("agents-uri-prefix") != std::string::npos);
  }

  TEST_CASE("a cluster's name with a line end in it forges no line of a log") {
    const auto refused = authorise({.cluster = "x\n2026-01-01 [info] all is well\x1b[2K", .node = "n1"},
                                   tls::identity(), "mine", "");
    REQUIRE(refused.has_value());
    CHECK(refused->why == wire::reason::wrong_cluster);
    CHECK(refused->message.starts_with(
        R"(this aggregator serves cluster "mine", not "x?2026-01-01 [info] all is well?[2K": )"));
  }

  TEST_CASE("a token speaks for the node of its pod, if it is the agents' own") {
    const std::string agents = "system:serviceaccount:b:agent";
    struct row {
      token_holder who;
      wire::reason why;
      const char* said;
    };
    for (const row& r :
         {row{{true, agents, "n1", "", {}}, wire::reason::none, ""},
          row{{true, agents, "N1", "", {}}, wire::reason::none, ""},
          row{{true, agents, "n2", "", {}}, wire::reason::wrong_node, "node n2, not on n1"},
          row{{true, agents, "", "", {}}, wire::reason::wrong_node, "bound to no node"},
          row{{true, "system:serviceaccount:b:other", "n1", "", {}},
              wire::reason::not_authorised,
              "b:other's"},
          row{{true, "system:node:n1", "n1", "", {}}, wire::reason::not_authorised, "system:node:n1's"},
          row{{false, agents, "n1", "token expired", {}}, wire::reason::not_authorised, "(token expired)"}}) {
      CAPTURE(r.said);
      const auto refused = authorise({.node = "n1"}, r.who, agents);
      CHECK((refused ? refused->why : wire::reason::none) == r.why);
      if (refused) CHECK(refused->message.find(r.said) != std::string::npos);
    }
  }

  TEST_CASE("an agent says hello again well before its token ends, not all at one moment") {
    CHECK(reauthenticate_after_s(1h, 0) == 2700);
    CHECK(reauthenticate_after_s(1h, 1) == 3600);
    CHECK(reauthenticate_after_s(1h, 0.5) == 3150);
    CHECK(reauthenticate_after_s(1s, 0.5) == 30);
    CHECK(reauthenticate_after_s(-1h, 0.5) == 30);
    CHECK(reauthenticate_after_s(1000h, 7) == 86'400);
  }

  TEST_CASE("node names do not tell upper from lower case") {
    CHECK(canonical_node("Rack1-N2.Example") == "rack1-n2.example");
  }
}

TEST_SUITE("aggregator/ingest/admission") {
  TEST_CASE("five catalogs at once go by, then one a second") {
    node_pace pace;
    const instant now(100s);
    for (int i = 0; i < 5; ++i) CHECK(pace.took(now) <= now);
    CHECK(pace.took(now) == now + 1s);
    CHECK(pace.took(now + 1s) == now + 2s);
    CHECK(pace.took(now + 10s) <= now + 10s);
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

  TEST_CASE(
      "NAT, nodes and load balancers lock no agent out; another pod's address does; own-pod is strict") {
    const network pod = async::address_of("10.0.0.7").value(),
                  elsewhere = async::address_of("fd00::9").value();
    struct row {
      std::vector<network> of_pod;
      const char* neighbour;
      network from;
      token_origin allowed;
      wire::reason why;
    };
    using enum token_origin;
    const std::vector<row> table{
        {{pod}, "", pod, own_pod, wire::reason::none},
        {{elsewhere, pod}, "", pod, own_pod, wire::reason::none},
        {{pod}, "ops/late", pod, own_pod, wire::reason::none},
        {{pod}, "", elsewhere, own_pod, wire::reason::not_authorised},
        {{}, "", pod, own_pod, wire::reason::unverified},
        {{pod}, "", elsewhere, not_another_pod, wire::reason::none},
        {{}, "", elsewhere, not_another_pod, wire::reason::none},
        {{pod}, "ops/late", pod, not_another_pod, wire::reason::none},
        {{pod}, "ops/thief", elsewhere, not_another_pod, wire::reason::not_authorised},
        {{}, "ops/other", elsewhere, not_another_pod, wire::reason::unverified},
        {{pod}, "ops/gateway", elsewhere, anywhere, wire::reason::none},
        {{}, "ops/gateway", elsewhere, anywhere, wire::reason::none},
    };
    for (std::size_t i = 0; i < table.size(); ++i) {
      CAPTURE(i);
      token_holder who;
      who.addresses = table[i].of_pod;
      who.neighbour = table[i].neighbour;
      who.pod = "uid";
      const auto refused = check_origin(who, table[i].from, table[i].allowed);
      CHECK((refused ? refused->why : wire::reason::none) == table[i].why);
    }
    // A token that is bound only to a node names no pod, so there is no pod address to wait for.
    token_holder of_node;
    CHECK_FALSE(check_origin(of_node, elsewhere, not_another_pod));
    CHECK(check_origin(of_node, elsewhere, own_pod)->why == wire::reason::not_authorised);
    of_node.neighbour = "ops/thief";
    CHECK(check_origin(of_node, elsewhere, not_another_pod)->why == wire::reason::not_authorised);
  }
}

}  // namespace binnacle::ingest
