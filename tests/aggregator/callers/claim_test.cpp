#include "aggregator/callers/claim.hpp"

#include "tests/aggregator/callers/shown.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

namespace claim_test {

namespace {

using namespace binnacle;
using namespace binnacle::callers;
using kind = claim::kind;

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct fixture : callers::test::mirror {
  layer known;

  fixture() {
    known.clients = tls::authorities::read(text_of(cluster.certificate()), "client-ca-file").value();
    known.front_proxy = tls::authorities::read(text_of(proxy.certificate()), "front proxy").value();
    known.proxy_names = {"front-proxy-client"};
    known.user_headers = {"x-remote-user"};
    known.uid_headers = {"x-remote-uid"};
    known.group_headers = {"x-remote-group"};
    known.extra_prefixes = {"x-remote-extra-"};
  }
  const support::https_client::header_list ann{{"X-Remote-User", "ann"},
                                               {"X-Remote-Uid", "7"},
                                               {"X-Remote-Group", "dev"},
                                               {"X-Remote-Group", "ops"},
                                               {"X-Remote-Extra-Acme.com%2Fproject", "one"},
                                               {"X-Remote-Extra-Acme.com%2Fproject", "two"}};
};

TEST_SUITE("aggregator/callers/claim") {
  TEST_CASE_FIXTURE(fixture, "the API server's word counts with its certificate, to the last extra") {
    const claim c =
        who_asks(from(proxy.issue("fp", callers::test::for_client("front-proxy-client")), ann), &known);
    REQUIRE(c.how == kind::user);
    CHECK(c.who.name == "ann");
    CHECK(c.who.uid == "7");
    CHECK(c.who.groups == std::vector<std::string>{"dev", "ops", "system:authenticated"});
    CHECK(c.who.extra.at("acme.com/project") == std::vector<std::string>{"one", "two"});
  }

  TEST_CASE_FIXTURE(fixture, "an anonymous user that the API server passes on stays one") {
    const tls::files pem = proxy.issue("fp", callers::test::for_client("front-proxy-client"));
    const claim named = who_asks(from(pem, {{"X-Remote-User", "system:anonymous"}}), &known);
    CHECK(named.how == kind::user);
    CHECK(named.who.groups.empty());
    const claim grouped =
        who_asks(from(pem, {{"X-Remote-User", "x"}, {"X-Remote-Group", "system:unauthenticated"}}), &known);
    CHECK(grouped.who.groups == std::vector<std::string>{"system:unauthenticated"});
  }

  TEST_CASE_FIXTURE(fixture, "the headers alone prove nothing") {
    for (const tls::files& pem :
         {nobody, ours.issue("c", callers::test::for_client("cli")),
          cluster.issue("u", callers::test::for_client("bob", {"dev"})),
          proxy.issue("other", callers::test::for_client("impostor")),
          proxy.issue("srv", {.common_name = "front-proxy-client", .extended_key_usage = "serverAuth"}),
          proxy.issue("old", {.common_name = "front-proxy-client",
                             .valid_from = -7200,
                             .valid_to = -3600,
                             .extended_key_usage = "clientAuth"})}) {
      CAPTURE(pem.certificate);
      const claim c = who_asks(from(pem, ann), &known);
      CHECK(c.who.name != "ann");
      CHECK((c.how == kind::nobody || c.how == kind::ours || c.who.name == "bob"));
    }
  }

  TEST_CASE_FIXTURE(fixture,
                    "without a list of names any certificate of the front proxy's authority counts") {
    known.proxy_names.clear();
    CHECK(who_asks(from(proxy.issue("any", callers::test::for_client("any")), ann), &known).who.name ==
          "ann");
    const claim c = who_asks(from(proxy.issue("any2", callers::test::for_client("any"))), &known);
    CHECK(c.how == kind::nobody);
  }

  TEST_CASE_FIXTURE(fixture, "a user of the cluster is who its certificate says, with its groups") {
    const claim c =
        who_asks(from(cluster.issue("u", callers::test::for_client("bob", {"dev", "qa"}))), &known);
    REQUIRE(c.how == kind::user);
    CHECK(c.who.name == "bob");
    CHECK(c.who.groups == std::vector<std::string>{"dev", "qa", "system:authenticated"});
    CHECK(c.who.extra.at("authentication.kubernetes.io/credential-id").front().starts_with("X509SHA256="));
  }

  TEST_CASE_FIXTURE(fixture, "a certificate of our own is ours, whatever the cluster trusts") {
    CHECK(who_asks(from(ours.issue("c", callers::test::for_client("cli"))), &known).how == kind::ours);
    CHECK(who_asks(from(ours.issue("c2", callers::test::for_client("cli"))), nullptr).how == kind::ours);
  }

  TEST_CASE_FIXTURE(fixture, "a token speaks when no certificate does") {
    const support::https_client::header_list token{{"Authorization", "bEARER  abc.def"}};
    for (const tls::files& pem : {nobody, proxy.issue("p", callers::test::for_client("impostor"))}) {
      const claim c = who_asks(from(pem, token), &known);
      CHECK(c.how == kind::token);
      CHECK(c.token == "abc.def");
    }
    CHECK(who_asks(from(nobody, token), nullptr).how == kind::token);
    CHECK(who_asks(from(cluster.issue("u", callers::test::for_client("bob")), token), &known).who.name ==
          "bob");
    for (const char* no : {"Bearer", "Bearer ", "Bearer a b", "Basic abc"}) {
      CAPTURE(no);
      CHECK(who_asks(from(nobody, {{"Authorization", no}}), &known).how == kind::nobody);
    }
  }

  TEST_CASE_FIXTURE(fixture, "a caller who cannot be identified is told what is wrong and what to present") {
    CHECK(who_asks(from(nobody), &known).why.find("bearer token") != std::string::npos);
    CHECK(who_asks(from(proxy.issue("p", callers::test::for_client("impostor"))), &known)
              .why.find("\"impostor\" is none of the names") != std::string::npos);
    support::authority stranger(dir, "stranger");
    CHECK(who_asks(from(stranger.issue("s", callers::test::for_client("s"))), &known)
              .why.find("no authority that is trusted here") != std::string::npos);
    CHECK(who_asks(from(stranger.issue("s2", callers::test::for_client("s"))), nullptr)
              .why.find("not read yet") != std::string::npos);
  }
}

}  // namespace

}  // namespace claim_test
