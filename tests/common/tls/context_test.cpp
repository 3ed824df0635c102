#include "common/tls/context.hpp"

#include "common/tls/own_certificate.hpp"
#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

namespace context_test {

namespace {

using namespace binnacle;
namespace fs = std::filesystem;

tls::options server_of(const tls::files& pem) {
  tls::options o;
  o.side = tls::role::server;
  o.pem = pem;
  return o;
}

std::string text_of(const std::string& path) {
  std::string out(fs::file_size(path), '\0');
  FILE* f = std::fopen(path.c_str(), "rb");
  REQUIRE(f != nullptr);
  REQUIRE(std::fread(out.data(), 1, out.size(), f) == out.size());
  std::fclose(f);
  return out;
}

TEST_SUITE("common/tls/context") {
  TEST_CASE("what is wrong with a file is said with its name") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    const auto good = ca.issue_server("good");
    const auto other = ca.issue_server("other");
    support::write_file(dir / "empty", "");
    support::write_file(dir / "text", "no PEM at all\n");
    support::write_file(dir / "cut", text_of(good.certificate).substr(0, 200));
    const std::string key = text_of(good.key);
    struct row {
      const char* name;
      tls::files pem;
      errc code;
      std::string says;
    };
    const std::vector<row> rows{
        {"mismatch",
         {good.certificate, other.key, good.authority},
         errc::invalid_input,
         "do not belong together"},
        {"no certificate file", {dir / "none", good.key, good.authority}, errc::not_found, dir / "none"},
        {"no key file", {good.certificate, dir / "none", good.authority}, errc::not_found, dir / "none"},
        {"no authority file", {good.certificate, good.key, dir / "none"}, errc::not_found, dir / "none"},
        {"empty key", {good.certificate, dir / "empty", good.authority}, errc::invalid_input, "is empty"},
        {"text for a certificate",
         {dir / "text", good.key, good.authority},
         errc::invalid_input,
         dir / "text"},
        {"text for a key",
         {good.certificate, dir / "text", good.authority},
         errc::invalid_input,
         dir / "text"},
        {"text for an authority",
         {good.certificate, good.key, dir / "text"},
         errc::invalid_input,
         "no PEM certificate"},
        {"cut certificate", {dir / "cut", good.key, good.authority}, errc::invalid_input, dir / "cut"},
        {"cut authority", {good.certificate, good.key, dir / "cut"}, errc::invalid_input, dir / "cut"},
        {"key as certificate", {good.key, good.key, good.authority}, errc::invalid_input, good.key},
        {"no authority", {good.certificate, good.key, ""}, errc::invalid_input, "no authority file is given"},
        {"nothing", {"", "", good.authority}, errc::invalid_input, "no certificate is given"},
    };
    for (const row& r : rows) {
      CAPTURE(r.name);
      const auto loaded = tls::context::load(server_of(r.pem));
      REQUIRE(loaded.has_error());
      CAPTURE(loaded.error().message);
      CHECK(loaded.error().code == r.code);
      CHECK(loaded.error().message.find(r.says) != std::string::npos);
      // The message never holds the key itself.
      CHECK(loaded.error().message.find(key.substr(40, 20)) == std::string::npos);
    }
    CHECK(tls::context::load(server_of(good)).has_value());
  }

  TEST_CASE("seconds_left counts to the end of the certificate") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    support::wanted what;
    what.dns_names = {"localhost"};
    what.valid_to = 1000;
    const auto lasting = tls::context::load(server_of(ca.issue("a", what))).value();
    CHECK(lasting->seconds_left() <= 1000);
    CHECK(lasting->seconds_left() > 900);
    what.valid_to = -10;
    const auto ended = tls::context::load(server_of(ca.issue("b", what))).value();
    CHECK(ended->seconds_left() < 0);
    CHECK(ended->ends_soon());
    CHECK_FALSE(lasting->ends_soon());
  }

  TEST_CASE("a certificate that is not valid now is named with its date") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    const auto said_of = [&](long from, long to) {
      support::wanted what;
      what.common_name = "n1";
      what.valid_from = from;
      what.valid_to = to;
      const auto context = tls::context::load(server_of(ca.issue("a", what))).value();
      return tls::out_of_date(context->current().get());
    };
    CHECK(said_of(-60, 3600).empty());
    const auto ended = said_of(-7200, -3600);
    CHECK(ended.starts_with("certificate \"n1\" ended on 20"));
    CHECK(ended.ends_with(" UTC: issue a new one"));
    CHECK(said_of(3600, 7200).starts_with("certificate \"n1\" begins only on 20"));
  }

  TEST_CASE("a key that everybody may read is named with the remedy") {
    support::temp_folder dir;
    support::write_file(dir / "a.key", "x");
    fs::permissions(dir / "a.key", fs::perms(0640));
    CHECK(tls::exposed_key(dir / "a.key").empty());
    fs::permissions(dir / "a.key", fs::perms(0644));
    CHECK(tls::exposed_key(dir / "a.key") ==
          "key " + (dir / "a.key") + " may be read by everybody on this machine: chmod 600 it");
    CHECK(tls::exposed_key(dir / "none").empty());
  }

  TEST_CASE("a changed certificate is taken over, an unchanged one is not read again") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    const auto context = tls::context::load(server_of(ca.issue_server())).value();
    const auto before = context->current();
    CHECK(context->reload_if_changed().value() == false);
    CHECK(context->current() == before);
    ca.issue_server();  // writes files of the same names
    CHECK(context->reload_if_changed().value() == true);
    CHECK(context->current() != before);
    CHECK(context->reload_if_changed().value() == false);
  }

  TEST_CASE("the swap of a Kubernetes secret's ..data link is seen") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    for (const char* version : {"v1", "v2"}) {
      const auto made = ca.issue_server(version);
      fs::create_directory(dir / (std::string(version) + ".d"));
      fs::rename(made.certificate, dir / (std::string(version) + ".d/tls.crt"));
      fs::rename(made.key, dir / (std::string(version) + ".d/tls.key"));
    }
    fs::create_directory_symlink("v1.d", dir / "..data");
    fs::create_symlink("..data/tls.crt", dir / "tls.crt");
    fs::create_symlink("..data/tls.key", dir / "tls.key");
    const auto context =
        tls::context::load(server_of({dir / "tls.crt", dir / "tls.key", ca.certificate()})).value();
    CHECK(context->reload_if_changed().value() == false);
    fs::create_directory_symlink("v2.d", dir / "..data_tmp");
    fs::rename(dir / "..data_tmp", dir / "..data");
    CHECK(context->reload_if_changed().value() == true);
  }

  TEST_CASE("a broken new file is reported once and the last good certificate stays in force") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    const auto pem = ca.issue_server();
    const auto context = tls::context::load(server_of(pem)).value();
    const auto before = context->current();
    const std::string good_key = text_of(pem.key);
    const auto other = ca.issue_server("other");
    support::write_file(pem.key, text_of(other.key));  // the new certificate follows later
    const auto half = context->reload_if_changed();
    REQUIRE(half.has_error());
    CHECK(half.error().message.find("stays in force") != std::string::npos);
    CHECK(context->current() == before);
    CHECK(context->reload_if_changed().value() == false);
    CHECK(context->trouble() == half.error().message);  // as long as the files do not fit
    support::write_file(pem.certificate, text_of(other.certificate));
    CHECK(context->reload_if_changed().value() == true);
    CHECK(context->trouble().empty());
    fs::remove(pem.certificate);
    CHECK(context->reload_if_changed().has_error());
    CHECK_FALSE(context->trouble().empty());
    CHECK(context->seconds_left() > 0);
  }

  TEST_CASE("a chain whose second certificate is damaged is refused") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    const auto pem = ca.issue_server();
    const std::string own = text_of(pem.certificate);
    std::string damaged = text_of(ca.certificate());
    support::write_file(pem.certificate, own + damaged);
    CHECK(tls::context::load(server_of(pem)).has_value());
    damaged.replace(damaged.size() / 2, 8, "!!!!!!!!");
    support::write_file(pem.certificate, own + damaged);
    const auto refused = tls::context::load(server_of(pem));
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == errc::invalid_input);
    CHECK(refused.error().message.find(pem.certificate + " holds a PEM certificate that cannot be read") !=
          std::string::npos);
  }

  TEST_CASE("new files that cannot be read for want of descriptors are tried again") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    const auto pem = ca.issue_server();
    const auto context = tls::context::load(server_of(pem)).value();
    ca.issue_server();
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit none = before;
    none.rlim_cur = 0;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto first = context->reload_if_changed();
    const auto second = context->reload_if_changed();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE(first.has_error());
    CHECK(first.error().code == errc::io);
    REQUIRE(second.has_error());
    CHECK(second.error().message == first.error().message);
    CHECK(context->reload_if_changed().value() == true);
    CHECK(context->reload_if_changed().value() == false);
  }

  TEST_CASE("an expired new certificate does not replace one that is still good") {
    support::temp_folder dir;
    support::authority ca(dir, "ca");
    const auto context = tls::context::load(server_of(ca.issue_server())).value();
    support::wanted old;
    old.dns_names = {"localhost"};
    old.valid_from = -100;
    old.valid_to = -10;
    ca.issue("server", old);
    const auto reloaded = context->reload_if_changed();
    REQUIRE(reloaded.has_error());
    CHECK(reloaded.error().message.find("expired") != std::string::npos);
    CHECK(context->reload_if_changed().value() == false);
    CHECK(context->trouble() == reloaded.error().message);
    CHECK(context->seconds_left() > 0);
  }
}

}  // namespace

}  // namespace context_test
