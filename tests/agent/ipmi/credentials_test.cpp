#include "agent/ipmi/credentials.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <sys/stat.h>

using namespace binnacle;
using namespace binnacle::ipmi;

TEST_SUITE_BEGIN("agent/ipmi/credentials");

TEST_CASE("user, password and key are read as people write them") {
  const auto c =
      parse_credentials("# the rack's\nuser: monitor\r\n\n  password:  \" a:b# \" \nk_g: 0x00ff41\n");
  REQUIRE(c.has_value());
  CHECK(c->user == "monitor");
  CHECK(c->password == " a:b# ");
  CHECK(c->k_g == std::string("\0\xff"
                              "A",
                              3));
  CHECK(parse_credentials("user:\npassword: x").value().user.empty());  // IPMI's anonymous user
  CHECK(parse_credentials("user: a\nk_g: plain").value().k_g == "plain");
}

TEST_CASE("a wrong file is one sentence that names the line and never what is in it") {
  for (const auto& one : {std::pair("passwort: geheim", "line 1: expected"),
                          {"user: a\ngeheim", "line 2: expected"},
                          {"password: geheim", "there is no line \"user: …\""},
                          {"user: a\nk_g: 0xgeheim", "line 2: k_g is at most"},
                          {"user: a\npassword: geheimgeheimgeheimgeheim",
                           "line 2: the password is longer than IPMI allows (20 bytes)"},
                          {"user: geheimgeheimgeheim", "line 1: the user is longer"}}) {
    const std::string_view text = one.first, said = one.second;
    CAPTURE(text);
    const auto c = parse_credentials(text);
    REQUIRE(c.has_error());
    CHECK(c.error().message.find(said) == 0);
    CHECK(c.error().message.find("geheim") == std::string::npos);
  }
}

TEST_CASE("a file that everybody can read is refused") {
  support::temp_folder folder;
  folder.write("bmc", "user: a\npassword: b\n");
  const auto file = folder / "bmc";
  ::chmod(file.c_str(), 0644);
  CHECK(load_credentials(file).error().message ==
        "credentials-file " + file + " is open to everybody (mode 0644): chmod 600 it");
  for (const mode_t mode : {0600u, 0640u, 0400u}) {
    ::chmod(file.c_str(), mode);
    CHECK(load_credentials(file).value().password == "b");
  }
  CHECK(load_credentials(folder / "none").error().code == errc::not_found);
  CHECK(load_credentials(folder.path()).error().code == errc::io);
}

TEST_CASE("a file that is too long is refused, not cut") {
  support::temp_folder folder;
  folder.write("bmc", "user: a\npassword: b\n# " + std::string(4096, 'x') + "\nk_g: k\n");
  const auto file = folder / "bmc";
  ::chmod(file.c_str(), 0600);
  const auto c = load_credentials(file);
  REQUIRE(c.has_error());
  CHECK(c.error().message.find(file + " is longer than 4096 bytes") != std::string::npos);
}

TEST_SUITE_END();
