#include "common/tls/certificate.hpp"

#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>

#include <ctime>
#include <fstream>
#include <iterator>

namespace certificate_test {

namespace {

using namespace binnacle;

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST_SUITE("common/tls/certificate") {
  TEST_CASE("a certificate's names, dates and uses are read without verifying it") {
    support::temp_folder dir;
    support::authority ca(dir, "agents");
    const auto now = std::chrono::system_clock::now();
    const auto files = ca.issue("n1", {.common_name = "node n1",
                                       .organizations = {"ops"},
                                       .dns_names = {"n1", "10.0.0.7", "fd00::7"},
                                       .uris = {"spiffe://x/node/n1"},
                                       .valid_from = -7200,
                                       .valid_to = -3600,
                                       .extended_key_usage = "clientAuth"});
    const auto all = tls::read_certificates(text_of(files.certificate) + text_of(ca.certificate()), "n1.crt");
    REQUIRE(all.has_value());
    REQUIRE(all->size() == 2);
    const auto& own = all->front();
    CHECK(own.names.common_name == "node n1");
    CHECK(own.names.organizations == std::vector<std::string>{"ops"});
    CHECK(own.names.dns_names == std::vector<std::string>{"n1"});
    CHECK(own.names.uris == std::vector<std::string>{"spiffe://x/node/n1"});
    CHECK(own.addresses == std::vector<std::string>{"10.0.0.7", "fd00::7"});
    CHECK(own.issuer == all->back().names.common_name);
    CHECK(own.for_clients);
    CHECK_FALSE(own.for_servers);
    CHECK_FALSE(own.authority);
    CHECK_FALSE(own.signs_itself);
    CHECK(own.ends < now - std::chrono::minutes(50));
    CHECK(own.ends - own.begins == std::chrono::hours(1));
    CHECK(all->back().authority);
    CHECK(all->back().signs_itself);
  }

  TEST_CASE("a certificate without expiry has not ended") {
    support::temp_folder dir;
    support::authority ca(dir, "agents");
    const std::time_t year_9999 = 253'402'300'799;  // RFC 5280, 4.1.2.5
    const auto files =
        ca.issue("n1", {.common_name = "n1", .valid_to = static_cast<long>(year_9999 - std::time(nullptr))});
    const auto all = tls::read_certificates(text_of(files.certificate), "n1.crt");
    REQUIRE(all.has_value());
    CHECK(all->front().ends > std::chrono::system_clock::now());
    CHECK(all->front().names.ends == all->front().ends);
  }

  TEST_CASE("a text without certificates, or with a broken one, is refused by name") {
    CHECK(tls::read_certificates("nothing", "x.crt").error().message.find("x.crt holds no PEM certificate") ==
          0);
    support::temp_folder dir;
    support::authority ca(dir, "agents");
    std::string text = text_of(ca.certificate());
    const std::string broken = text + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    CHECK(tls::read_certificates(broken, "x.crt").error().message.find("cannot be read") !=
          std::string::npos);
  }

  TEST_CASE("a chain is in order when each certificate was issued by the one after it") {
    support::temp_folder dir;
    support::authority ca(dir, "agents"), other(dir, "other");
    const std::string own = text_of(ca.issue("n1", {.common_name = "n1"}).certificate);
    CHECK(tls::chain_in_order(own, "c").has_value());
    CHECK(tls::chain_in_order(own + text_of(ca.certificate()), "c").has_value());
    CHECK(tls::chain_in_order(own + text_of(other.certificate()), "c")
              .error()
              .message.find("certificate 1 of c") == 0);
  }
}

}  // namespace

}  // namespace certificate_test
