#include "cli/doctor/certificate_files.hpp"

#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace binnacle;
using namespace binnacle::cli::doctor;

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct files_fixture {
  support::temp_folder dir;
  support::authority agents{dir, "agents"}, servers{dir, "servers"};
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();

  tls::files node(long from = -60, long to = 3600, std::string usage = "clientAuth") {
    auto f = agents.issue("node", {.common_name = "n1",
                                   .dns_names = {"n1"},
                                   .valid_from = from,
                                   .valid_to = to,
                                   .extended_key_usage = std::move(usage)});
    f.authority = servers.certificate();
    return f;
  }
  findings look(const tls::files& f, const std::string& node = "n1", bool foreign = false) const {
    return look_at({"the agent's", f, node, foreign}, now);
  }
};

TEST_SUITE("cli/doctor/certificate_files") {
  TEST_CASE_FIXTURE(files_fixture, "files that are right are told with who issued them and until when") {
    const auto found = look(node());
    REQUIRE(found.size() == 2);
    CHECK(found[0].how == grade::ok);
    CHECK(found[0].sentence.find("issued by \"agents\" for n1") != std::string::npos);
    CHECK(found[1].how == grade::ok);
  }

  TEST_CASE_FIXTURE(files_fixture, "each thing that is wrong is one failure with its remedy") {
    const auto only = [&](const findings& found, const char* part) {
      CAPTURE(part);
      REQUIRE_FALSE(found.empty());
      CHECK(found[0].how == grade::failure);
      CHECK(found[0].sentence.find(part) != std::string::npos);
      CHECK_FALSE(found[0].remedy.empty());
    };
    only(look(node(-7200, -3600)), "ended on");
    only(look(node(3600, 7200)), "is valid only from");
    only(look(node(-60, 3600, "serverAuth")), "not for clients");
    only(look(node(), "n2"), "speaks for n1, not for node n2");

    auto swapped = node();
    swapped.key = agents.issue("other", {.common_name = "o"}).key;
    only(look(swapped), "do not belong together");
    auto missing = node();
    missing.key += ".gone";
    only(look(missing), "cannot be read: No such file");
    auto rubbish = node();
    support::write_file(rubbish.authority = dir / "rubbish.crt", "no certificate\n");
    only(look(rubbish), "no PEM certificate");
  }

  TEST_CASE_FIXTURE(files_fixture,
                    "a certificate that names the node by a URI alone is a warning with the prefix") {
    auto by_uri = agents.issue("uri", {.common_name = "n1",
                                       .uris = {"spiffe://td/node/n1"},
                                       .valid_from = -60,
                                       .valid_to = 3600,
                                       .extended_key_usage = "clientAuth"});
    by_uri.authority = servers.certificate();
    const auto found = look(by_uri);
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].how == grade::warning);
    CHECK(found[0].remedy.find("agents-uri-prefix to spiffe://td/node/,") != std::string::npos);
  }

  TEST_CASE_FIXTURE(files_fixture, "a certificate that ends soon is a warning") {
    const auto found = look(node(-36'000, 60));
    CHECK(found[0].how == grade::warning);
    CHECK(found[0].sentence.find("less than a tenth") != std::string::npos);
  }

  TEST_CASE_FIXTURE(files_fixture, "a server's certificate in the CA's place is told as such") {
    auto f = node();
    f.authority = servers.issue_server("leaf").certificate;
    const auto found = look(f);
    REQUIRE(found.size() == 2);
    CHECK(found[1].how == grade::failure);
    CHECK(found[1].sentence.find("is not an authority") != std::string::npos);
  }

  TEST_CASE_FIXTURE(files_fixture, "a chain out of order is reported") {
    auto f = node();
    support::write_file(f.certificate, text_of(f.certificate) + text_of(servers.certificate()));
    const auto found = look(f);
    CHECK(found[0].how == grade::failure);
    CHECK(found[0].sentence.find("was not issued by the one after it") != std::string::npos);
    support::write_file(f.certificate, text_of(node().certificate) + text_of(agents.certificate()));
    CHECK(look(f)[0].how == grade::ok);
  }

  TEST_CASE_FIXTURE(files_fixture, "an old CA beside its successor does no harm") {
    auto f = node();
    const auto ended = agents.issue("ended", {.common_name = "x", .valid_from = -7200, .valid_to = -3600});
    const auto later = look_at({"the agent's", f, "n1"}, now + std::chrono::hours(24 * 365 * 40));
    CHECK(later[0].how == grade::failure);
    f.authority = dir / "both.crt";
    support::write_file(f.authority, text_of(servers.certificate()) + text_of(agents.certificate()));
    CHECK(look(f)[1].how == grade::ok);
  }

  TEST_CASE_FIXTURE(files_fixture, "files of another machine are no failure here") {
    const auto found = look({"/nowhere/tls.crt", "/nowhere/tls.key", "/nowhere/ca.crt"}, {}, true);
    CHECK(found.size() == 3);
    for (const auto& f : found) CHECK(f.how == grade::unchecked);
  }
}

}  // namespace
